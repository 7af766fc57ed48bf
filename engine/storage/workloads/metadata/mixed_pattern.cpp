// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/mixed_pattern.hpp"

#include <numeric>
#include <utility>

namespace ullage {
namespace {

/// The `turn`-th object of a queue that is gone through over and over while it moves on.
std::uint64_t object_at(std::uint64_t turn, const MixedMetadataPattern::Live& live) {
  const std::uint64_t size = live.next - live.first;
  if (turn >= live.first) return live.first + (turn - live.first) % size;
  return live.first + (size - (live.first - turn) % size) % size;
}

}  // namespace

MixedMetadataPattern::MixedMetadataPattern(const Shape& shape, std::uint64_t rank)
    : shape_(shape),
      operations_a_visit_(std::accumulate(shape.shares.begin(), shape.shares.end(), std::uint64_t{0})),
      key_(mix64(shape.seed) ^ mix64(~rank)) {}

MixedMetadataPattern::Live MixedMetadataPattern::live(std::uint64_t set, std::uint64_t done) const noexcept {
  const std::uint64_t visits = done / operations_a_visit_;
  const std::uint64_t turns = visits / shape_.sets + (set < visits % shape_.sets ? 1 : 0);
  const std::uint64_t moved = turns * shape_.shares[Shape::remove];
  Live live{moved, moved + shape_.objects};
  if (set != visits % shape_.sets) return live;
  Walk walk(*this, visits * operations_a_visit_);
  for (std::uint64_t i = 0; i < done % operations_a_visit_; ++i) {
    const Shape::Kind kind = walk.next().kind;
    if (kind == Shape::remove) ++live.first;
    if (kind == Shape::create) ++live.next;
  }
  return live;
}

MixedMetadataPattern::Walk::Walk(const MixedMetadataPattern& pattern, std::uint64_t from) noexcept
    : pattern_(pattern), order_(pattern.operations_a_visit_, 0) {
  begin_visit(from / pattern.operations_a_visit_);
  while (place_ < from % pattern.operations_a_visit_) advance();
}

void MixedMetadataPattern::Walk::begin_visit(std::uint64_t visit) noexcept {
  visit_ = visit;
  place_ = 0;
  done_.fill(0);
  order_ = Permutation(pattern_.operations_a_visit_, mix64(pattern_.key_ + visit));
}

/// Counts the operation at the present place, and says what kind it is.
MixedMetadataPattern::Shape::Kind MixedMetadataPattern::Walk::advance() noexcept {
  std::uint64_t place = pattern_.shape_.order == VisitOrder::random ? order_(place_) : place_;
  std::size_t kind = 0;
  for (; place >= pattern_.shape_.shares.at(kind); ++kind) place -= pattern_.shape_.shares.at(kind);
  ++place_;
  ++done_.at(kind);
  return static_cast<Shape::Kind>(kind);
}

MixedMetadataPattern::Step MixedMetadataPattern::Walk::next() noexcept {
  const Shape& shape = pattern_.shape_;
  if (place_ == pattern_.operations_a_visit_) begin_visit(visit_ + 1);
  const auto before = done_;
  const Shape::Kind kind = advance();
  const std::uint64_t turn = visit_ / shape.sets;  // visits of this set before
  const std::uint64_t moved = turn * shape.shares[Shape::remove];
  const Live live{moved + before[Shape::remove], moved + shape.objects + before[Shape::create]};
  Step step{kind, visit_ % shape.sets, live.first};
  if (kind == Shape::create) step.object = live.next;
  if (kind == Shape::stat || kind == Shape::read)
    step.object = object_at(turn * shape.shares.at(kind) + before.at(kind), live);
  return step;
}

}  // namespace ullage
