// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/mixed_pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::mixed_metadata_pattern_test {

using Shape = MixedMetadataShape;
using Step = MixedMetadataPattern::Step;
using Live = MixedMetadataPattern::Live;

std::vector<Step> steps(const MixedMetadataPattern& pattern, std::uint64_t from, std::uint64_t count) {
  std::vector<Step> found;
  MixedMetadataPattern::Walk walk(pattern, from);
  for (std::uint64_t i = 0; i < count; ++i) found.push_back(walk.next());
  return found;
}

TEST(MixedMetadataPattern, SharesOfOneAreTheLoopOfMdWorkbench) {
  const MixedMetadataPattern pattern(Shape{.sets = 2, .objects = 3}, 0);
  EXPECT_EQ(pattern.operations_a_round(), 8U);
  const std::vector<Step> wanted{{Shape::stat, 0, 0},   {Shape::read, 0, 0},   {Shape::remove, 0, 0},
                                 {Shape::create, 0, 3}, {Shape::stat, 1, 0},   {Shape::read, 1, 0},
                                 {Shape::remove, 1, 0}, {Shape::create, 1, 3}, {Shape::stat, 0, 1},
                                 {Shape::read, 0, 1},   {Shape::remove, 0, 1}, {Shape::create, 0, 4}};
  EXPECT_EQ(steps(pattern, 0, 12), wanted);
}

TEST(MixedMetadataPattern, LooksGoThroughASetThatDoesNotTurnOver) {
  const MixedMetadataPattern pattern(Shape{.sets = 1, .objects = 3, .shares = {2, 0, 0, 0}}, 0);
  std::vector<std::uint64_t> objects;
  for (const Step& step : steps(pattern, 0, 8)) objects.push_back(step.object);
  EXPECT_EQ(objects, (std::vector<std::uint64_t>{0, 1, 2, 0, 1, 2, 0, 1}));
}

TEST(MixedMetadataPattern, SetsThatWereNotReachedYetAreAsTheyWere) {
  const MixedMetadataPattern pattern(Shape{.sets = 2, .objects = 3}, 0);
  EXPECT_EQ(pattern.live(0, 0), (Live{0, 3}));
  EXPECT_EQ(pattern.live(0, 3), (Live{1, 3})) << "between delete and create";
  EXPECT_EQ(pattern.live(1, 3), (Live{0, 3}));
  EXPECT_EQ(pattern.live(0, 8), (Live{1, 4}));
  EXPECT_EQ(pattern.live(1, 8), (Live{1, 4}));
}

TEST(MixedMetadataPattern, RandomOrdersDifferBetweenRanksVisitsAndSeeds) {
  Shape shape{.sets = 1, .objects = 20, .shares = {10, 10, 10, 10}, .order = VisitOrder::random};
  const MixedMetadataPattern mine(shape, 0);
  const MixedMetadataPattern of_another(shape, 1);
  ++shape.seed;
  const MixedMetadataPattern reseeded(shape, 0);
  EXPECT_NE(steps(mine, 0, 40), steps(of_another, 0, 40));
  EXPECT_NE(steps(mine, 0, 40), steps(reseeded, 0, 40));
  const auto kinds = [&](std::uint64_t from) {
    std::vector<Shape::Kind> found;
    for (const Step& step : steps(mine, from, 40)) found.push_back(step.kind);
    return found;
  };
  EXPECT_NE(kinds(0), kinds(40));
}

}  // namespace ullage::mixed_metadata_pattern_test
