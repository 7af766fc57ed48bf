// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "memory/chase/cycle.hpp"
#include "memory/pages.hpp"
#include "memory/place.hpp"

namespace ullage {

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
