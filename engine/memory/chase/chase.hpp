// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/pages.hpp"
#include "memory/place.hpp"

namespace ullage {

// A closed chain of pointers through memory, in an order no prefetcher foresees.

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

struct ChaseParameters : WindowParameters, MemoryPlace {
  std::uint64_t working_set_bytes = std::uint64_t{64} << 20U;
  std::uint64_t stride_bytes = 64;
  std::uint64_t locality_bytes = 0;
  int chains = 1;

  [[nodiscard]] static Table<ChaseParameters> table();
  [[nodiscard]] ChaseShape shape() const { return {working_set_bytes, stride_bytes, locality_bytes}; }
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_chase_shape(const ChaseShape& shape, const std::string& pointer);
[[nodiscard]] Status check_chase(const ChaseParameters& parameters, const std::string& pointer);

/// Knows where chases stand on a cycle: pointers that are never set back, so that neither a pass nor a window can begin
/// before the last one has ended.
class Chaser final {
 public:
  Chaser(ChaseCycle cycle, std::size_t chains);
  /// `steps` a multiple of chase_unroll, by each chain.
  void follow(std::uint64_t steps) {
    chase(std::span(at_).first(chains_), steps);
    steps_ += steps;
  }
  /// Each chain must stand where the cycle leads after the steps it has made.
  [[nodiscard]] Status check() const;
  [[nodiscard]] const ChaseCycle& cycle() const { return cycle_; }

 private:
  /// They start evenly spread over the cycle.
  [[nodiscard]] std::uint64_t start(std::size_t chain) const { return cycle_.slots() * chain / chains_; }

  ChaseCycle cycle_;
  std::size_t chains_;
  std::uint64_t steps_ = 0;
  std::array<const std::byte*, most_chains> at_{};
};

/// Every thread chases through memory of its own; a pass is `steps_a_pass` steps of every chain.
class ChaseKernel final : public WindowedKernel {
 public:
  static constexpr std::uint64_t steps_a_pass = 8 * chase_unroll;

  /// `ready` is what make_ready() returns when something was wrong before. `ranks_on_node` share its memory.
  ChaseKernel(const ChaseParameters& parameters, std::uint64_t seed, int ranks_on_node, Status ready);

  [[nodiscard]] Status make_ready(std::size_t thread) override;
  void run(std::size_t thread, std::uint64_t passes) override;
  [[nodiscard]] Status check() override;
  void report(const WindowTotals& totals, Gauges& gauges) const override;

  /// The cycle that a thread follows; after its make_ready().
  [[nodiscard]] const ChaseCycle& cycle(std::size_t thread) const { return shares_[thread].chaser->cycle(); }

 private:
  struct alignas(128) Share {  // apart, since each is written by its own thread
    std::optional<Chaser> chaser;
  };

  ChaseParameters parameters_;
  std::uint64_t seed_;
  Status ready_;
  std::vector<Share> shares_;
};

}  // namespace ullage
