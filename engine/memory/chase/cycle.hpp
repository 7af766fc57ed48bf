// SPDX-License-Identifier: Apache-2.0
// A closed chain of pointers through memory, in an order no prefetcher foresees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "memory/pages.hpp"

namespace ullage {

/// Says what a cycle goes through.
struct ChaseShape {
  std::uint64_t bytes = 0;
  std::uint64_t stride = 64;   // bytes from slot to slot; a slot holds one pointer
  std::uint64_t locality = 0;  // all slots of that many bytes are visited before those of others; 0: of all bytes
  [[nodiscard]] std::uint64_t slots() const { return bytes / stride; }
  /// Slots of one neighbourhood.
  [[nodiscard]] std::uint64_t local_slots() const { return locality == 0 ? slots() : locality / stride; }
  /// Returns the bytes of the memory, with what is needed beside the memory itself to verify where a chase must end.
  [[nodiscard]] std::uint64_t needed_bytes() const { return bytes + slots() * sizeof(std::uint32_t); }
};

/// Numbers below `slots`, each once, as they are visited: neighbourhoods of `local_slots` in random order, in each its
/// slots in random order (Fisher and Yates). Linked in this order they make one single cycle, every one as likely as
/// any other, as Sattolo's algorithm does. Both counts are below 2^32, `slots` not 0.
[[nodiscard]] std::vector<std::uint32_t> chase_order(std::uint64_t slots, std::uint64_t local_slots,
                                                     std::uint64_t seed);

/// Such a cycle in memory that the thread that makes it touches first.
class ChaseCycle final {
 public:
  [[nodiscard]] static Result<ChaseCycle> make(const ChaseShape& shape, Pages pages, int node, std::uint64_t seed);

  /// The slot that is visited after `steps` steps from the cycle's first one.
  [[nodiscard]] std::byte* slot_after(std::uint64_t steps) const {
    return region_.bytes().data() + stride_ * order_[steps % order_.size()];
  }
  [[nodiscard]] std::uint64_t slots() const { return order_.size(); }
  [[nodiscard]] std::uint64_t huge_bytes() const { return region_.huge_bytes(); }

 private:
  ChaseCycle(Region region, std::vector<std::uint32_t> order, std::uint64_t stride)
      : region_(std::move(region)), order_(std::move(order)), stride_(stride) {}

  Region region_;
  std::vector<std::uint32_t> order_;
  std::uint64_t stride_;
};

/// Most pointers that follow the cycle at once.
inline constexpr std::size_t most_chains = 16;
/// Steps must be a multiple of this.
inline constexpr std::uint64_t chase_unroll = 32;

/// Moves each of 1 to most_chains pointers that many steps along the cycle; each step needs the result of the last.
void chase(std::span<const std::byte*> pointers, std::uint64_t steps);

}  // namespace ullage
