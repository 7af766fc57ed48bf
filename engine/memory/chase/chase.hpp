// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>

#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "memory/pages.hpp"
#include "memory/place.hpp"
#include "work/entry.hpp"

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
  [[nodiscard]] static Result<ChaseCycle> make(const ChaseShape& shape, Pages pages, int node, std::uint64_t seed) {
    auto region = Region::map(shape.bytes, pages, node);
    if (!region) return fail(region.error());
    if (const Status touched = region->touch(region->bytes()); !touched) return fail(touched.error());
    ChaseCycle cycle(std::move(*region), chase_order(shape.slots(), shape.local_slots(), seed), shape.stride);
    for (std::uint64_t step = 0; step < cycle.slots(); ++step) {
      const std::byte* const next = cycle.slot_after(step + 1);
      std::memcpy(cycle.slot_after(step), static_cast<const void*>(&next), sizeof next);
    }
    return cycle;
  }

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

template <std::size_t chains>
void follow(std::span<const std::byte*> pointers, std::uint64_t steps) {
  std::array<const std::byte*, chains> at{};
  std::ranges::copy(pointers, at.begin());
  const auto step = [&at]<std::size_t... i>(std::index_sequence<i...>) {
    ((at[i] = *reinterpret_cast<const std::byte* const*>(at[i])), ...);
  };
  const auto steps_of_a_turn = [&step]<std::size_t... i>(std::index_sequence<i...>) {
    ((static_cast<void>(i), step(std::make_index_sequence<chains>())), ...);
  };
  for (; steps > 0; steps -= chase_unroll) steps_of_a_turn(std::make_index_sequence<chase_unroll>());
  std::ranges::copy(at, pointers.begin());
}

/// Knows where chases stand on a cycle: pointers that are never set back, so that neither a pass nor a window can begin
/// before the last one has ended.
class Chaser final {
 public:
  Chaser(ChaseCycle cycle, std::size_t chains) : cycle_(std::move(cycle)), chains_(chains) {
    for (std::size_t chain = 0; chain < chains_; ++chain) at_.at(chain) = cycle_.slot_after(start(chain));
  }

  /// `steps` a multiple of chase_unroll, by each chain.
  void follow(std::uint64_t steps) {
    chase(std::span(at_).first(chains_), steps);
    steps_ += steps;
  }

  /// Each chain must stand where the cycle leads after the steps it has made.
  [[nodiscard]] Status check() const {
    for (std::size_t chain = 0; chain < chains_; ++chain) {
      if (at_.at(chain) == cycle_.slot_after(start(chain) + steps_)) continue;
      return fail(
          verification_error("check", "chain " + std::to_string(chain),
                             "is not at the place that its cycle reaches after " + std::to_string(steps_) + " steps"));
    }
    return {};
  }

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
  ChaseKernel(const ChaseParameters& parameters, std::uint64_t seed, int ranks_on_node, Status ready)
      : parameters_(parameters),
        seed_(seed),
        ready_(std::move(ready)),
        shares_(static_cast<std::size_t>(parameters.threads)) {
    const std::uint64_t threads = shares_.size() * static_cast<std::uint64_t>(ranks_on_node);
    if (ready_) ready_ = check_room("working_set_bytes", Count(parameters.shape().needed_bytes()) * threads);
  }

  [[nodiscard]] Status make_ready(std::size_t thread) override {
    if (!ready_) return ready_;
    auto cycle =
        ChaseCycle::make(parameters_.shape(), parameters_.pages, parameters_.memory_node, mix64(seed_ + thread));
    if (!cycle) return fail(cycle.error());
    shares_[thread].chaser.emplace(std::move(*cycle), static_cast<std::size_t>(parameters_.chains));
    return {};
  }

  void run(std::size_t thread, std::uint64_t passes) override { shares_[thread].chaser->follow(passes * steps_a_pass); }

  [[nodiscard]] Status check() override {
    for (const Share& share : shares_)
      if (auto right = share.chaser->check(); !right) return right;
    return {};
  }

  void report(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["accesses"] = totals.all_passes() * static_cast<double>(steps_a_pass) * parameters_.chains;
    gauges["thread_s"] = static_cast<double>(totals.thread_ns) * 1e-9;
    std::uint64_t huge = 0;
    for (const Share& share : shares_)
      if (share.chaser) huge += share.chaser->cycle().huge_bytes();
    gauges["huge_bytes"] = static_cast<double>(huge);
  }

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
