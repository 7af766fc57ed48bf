// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

#include "storage/workloads/metadata/mixed_pattern.hpp"

namespace ullage::mixed_metadata_pattern_property_test {

using Shape = MixedMetadataShape;
using Pattern = MixedMetadataPattern;

Shape some_shape() {
  Shape shape;
  shape.sets = *rc::gen::inRange<std::uint64_t>(1, 5);
  const auto turned = *rc::gen::inRange<std::uint64_t>(0, 8);
  shape.shares = {*rc::gen::inRange<std::uint64_t>(0, 8), *rc::gen::inRange<std::uint64_t>(1, 8), turned, turned};
  shape.objects = turned + *rc::gen::inRange<std::uint64_t>(1, 20);
  shape.order = *rc::gen::element(VisitOrder::looped, VisitOrder::random);
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  return shape;
}

/// The sets as a file system would have them.
class Sets final {
 public:
  explicit Sets(const Shape& shape) : shape_(shape), there_(shape.sets), next_(shape.sets, shape.objects) {
    for (auto& set : there_)
      for (std::uint64_t i = 0; i < shape.objects; ++i) set.insert(i);
  }
  void execute(const Pattern::Step& step) {
    auto& set = there_.at(step.set);
    if (step.kind == Shape::create) {
      RC_ASSERT(step.object == next_.at(step.set)++);
      set.insert(step.object);
    } else {
      RC_ASSERT(set.contains(step.object));
    }
    if (step.kind == Shape::remove) {
      RC_ASSERT(step.object == *set.begin());
      set.erase(set.begin());
    }
    RC_ASSERT(!set.empty());
    RC_ASSERT(set.size() + shape_.shares[Shape::remove] >= shape_.objects);
    RC_ASSERT(set.size() <= shape_.objects + shape_.shares[Shape::create]);
  }
  void expect_live(std::uint64_t set, const Pattern::Live& live) const {
    RC_ASSERT(*there_.at(set).begin() == live.first);
    RC_ASSERT(there_.at(set).size() == live.next - live.first);
    RC_ASSERT(next_.at(set) == live.next);
  }

 private:
  Shape shape_;
  std::vector<std::set<std::uint64_t>> there_;
  std::vector<std::uint64_t> next_;
};

RC_GTEST_PROP(MixedMetadataPatternProperty, WorksOnWhatIsThereAndKnowsWhatIsLeft, ()) {
  const Shape shape = some_shape();
  const Pattern pattern(shape, *rc::gen::inRange<std::uint64_t>(0, 9));
  Pattern::Walk walk(pattern, 0);
  Sets sets(shape);
  const auto operations = *rc::gen::inRange<std::uint64_t>(0, 400);
  for (std::uint64_t i = 0; i < operations; ++i) sets.execute(walk.next());
  for (std::uint64_t set = 0; set < shape.sets; ++set) sets.expect_live(set, pattern.live(set, operations));
}

RC_GTEST_PROP(MixedMetadataPatternProperty, EveryVisitHasExactlyItsShares, ()) {
  const Shape shape = some_shape();
  const Pattern pattern(shape, 3);
  Pattern::Walk walk(pattern, 0);
  for (std::uint64_t visit = 0; visit < 3 * shape.sets; ++visit) {
    std::array<std::uint64_t, Shape::kinds> found{};
    for (std::uint64_t i = 0; i < pattern.operations_a_round() / shape.sets; ++i) {
      const Pattern::Step step = walk.next();
      RC_ASSERT(step.set == visit % shape.sets);
      ++found.at(step.kind);
    }
    RC_ASSERT(found == shape.shares);
  }
}

RC_GTEST_PROP(MixedMetadataPatternProperty, AWalkMayBeginAnywhere, ()) {
  const Shape shape = some_shape();
  const Pattern pattern(shape, 1);
  const auto from = *rc::gen::inRange<std::uint64_t>(0, 300);
  Pattern::Walk whole(pattern, 0);
  for (std::uint64_t i = 0; i < from; ++i) (void)whole.next();
  Pattern::Walk part(pattern, from);
  for (std::uint64_t i = 0; i < 50; ++i) RC_ASSERT(part.next() == whole.next());
}

}  // namespace ullage::mixed_metadata_pattern_property_test
