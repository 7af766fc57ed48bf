// SPDX-License-Identifier: Apache-2.0
// Which operation on which object comes next, in sets of small objects that turn over: md-workbench's steady state.
// Pure.
#pragma once

#include <numeric>

#include "base/permutation.hpp"
#include "base/std.hpp"

namespace ullage {

enum class VisitOrder { looped, random };

struct MixedMetadataShape {
  enum Kind : std::size_t { stat, read, remove, create, kinds };
  std::uint64_t sets = 1;
  std::uint64_t objects = 1;                            // in each set when the first operation begins
  std::array<std::uint64_t, kinds> shares{1, 1, 1, 1};  // as many are removed as created, and less than objects
  VisitOrder order = VisitOrder::looped;
  std::uint64_t seed = 1;
};

/// A visit does each kind of operation as often as its share says, to one set; a round visits every set once. In a
/// visit the kinds come one after the other, or in an order of its own for every rank and visit. A set is a queue of
/// numbered objects: what is removed is its oldest, what is created has the next number, and so it is as large after a
/// visit as before. Stats and reads go through what is there from the oldest on, and begin again behind the newest;
/// with shares of 1 that is the object that is removed next.
class MixedMetadataPattern final {
 public:
  using Shape = MixedMetadataShape;
  struct Step {
    Shape::Kind kind = Shape::stat;
    std::uint64_t set = 0;
    std::uint64_t object = 0;  // counted from the oldest that was there when the first operation began
    [[nodiscard]] bool operator==(const Step&) const = default;
  };
  /// The objects from `first` to before `next`, counted likewise.
  struct Live {
    std::uint64_t first = 0;
    std::uint64_t next = 0;
    [[nodiscard]] bool operator==(const Live&) const = default;
  };
  MixedMetadataPattern(const Shape& shape, std::uint64_t rank)
      : shape_(shape),
        operations_a_visit_(std::accumulate(shape.shares.begin(), shape.shares.end(), std::uint64_t{0})),
        key_(mix64(shape.seed) ^ mix64(~rank)) {}
  [[nodiscard]] std::uint64_t operations_a_round() const noexcept { return operations_a_visit_ * shape_.sets; }

  /// Goes through the operations from any of them on.
  class Walk final {
   public:
    Walk(const MixedMetadataPattern& pattern, std::uint64_t from) noexcept
        : pattern_(pattern), order_(pattern.operations_a_visit_, 0) {
      begin_visit(from / pattern.operations_a_visit_);
      while (place_ < from % pattern.operations_a_visit_) advance();
    }

    [[nodiscard]] Step next() noexcept {
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

   private:
    /// The `turn`-th object of a queue that is gone through over and over while it moves on.
    [[nodiscard]] static std::uint64_t object_at(std::uint64_t turn, const Live& live) noexcept {
      const std::uint64_t size = live.next - live.first;
      if (turn >= live.first) return live.first + (turn - live.first) % size;
      return live.first + (size - (live.first - turn) % size) % size;
    }
    void begin_visit(std::uint64_t visit) noexcept {
      visit_ = visit;
      place_ = 0;
      done_.fill(0);
      order_ = Permutation(pattern_.operations_a_visit_, mix64(pattern_.key_ + visit));
    }
    /// Counts the operation at the present place, and says what kind it is.
    Shape::Kind advance() noexcept {
      std::uint64_t place = pattern_.shape_.order == VisitOrder::random ? order_(place_) : place_;
      std::size_t kind = 0;
      for (; place >= pattern_.shape_.shares.at(kind); ++kind) place -= pattern_.shape_.shares.at(kind);
      ++place_;
      ++done_.at(kind);
      return static_cast<Shape::Kind>(kind);
    }

    const MixedMetadataPattern& pattern_;
    std::uint64_t visit_ = 0;
    std::uint64_t place_ = 0;                         // in the visit
    std::array<std::uint64_t, Shape::kinds> done_{};  // of each kind, of the visit
    Permutation order_;
  };

  /// Returns what is there of a set after the first `done` operations.
  [[nodiscard]] Live live(std::uint64_t set, std::uint64_t done) const noexcept {
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

 private:
  Shape shape_;
  std::uint64_t operations_a_visit_;
  std::uint64_t key_;
};

}  // namespace ullage
