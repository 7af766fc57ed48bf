// SPDX-License-Identifier: Apache-2.0
// Which operation on which object comes next, in sets of small objects that turn over: md-workbench's steady state.
// Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/permutation.hpp"

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
  MixedMetadataPattern(const Shape& shape, std::uint64_t rank);
  [[nodiscard]] std::uint64_t operations_a_visit() const noexcept { return operations_a_visit_; }
  [[nodiscard]] std::uint64_t operations_a_round() const noexcept { return operations_a_visit_ * shape_.sets; }
  /// Returns what is there of a set after the first `done` operations.
  [[nodiscard]] Live live(std::uint64_t set, std::uint64_t done) const noexcept;

  /// Goes through the operations from any of them on.
  class Walk final {
   public:
    Walk(const MixedMetadataPattern& pattern, std::uint64_t from) noexcept;
    [[nodiscard]] Step next() noexcept;

   private:
    void begin_visit(std::uint64_t visit) noexcept;
    Shape::Kind advance() noexcept;
    const MixedMetadataPattern& pattern_;
    std::uint64_t visit_ = 0;
    std::uint64_t place_ = 0;                         // in the visit
    std::array<std::uint64_t, Shape::kinds> done_{};  // of each kind, of the visit
    Permutation order_;
  };

 private:
  Shape shape_;
  std::uint64_t operations_a_visit_;
  std::uint64_t key_;
};

}  // namespace ullage
