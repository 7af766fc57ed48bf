// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/pages.hpp"
#include "work/windowed_phase.hpp"

namespace ullage {

struct UpdatesParameters : WindowParameters {
  std::uint64_t table_bytes = std::uint64_t{256} << 20U;
  Pages pages = Pages::system;

  [[nodiscard]] static Table<UpdatesParameters> table();
};

/// `pointer` is that of the parameters object.
[[nodiscard]] Status check_updates(const UpdatesParameters& parameters, const std::string& pointer);

/// The next number of HPC Challenge's RandomAccess: times x, with x^64 = x^2 + x + 1 over GF(2).
[[nodiscard]] constexpr std::uint64_t next_update(std::uint64_t number) {
  return (number << 1U) ^ ((number >> 63U) != 0 ? 7U : 0U);
}

/// The number `n` places after the first, 1, in that sequence, by repeated squaring. Source: HPC Challenge 1.5,
/// RandomAccess/utility.c, HPCC_starts.
[[nodiscard]] std::uint64_t update_start(std::uint64_t n);

/// After how many numbers the sequence repeats. Source: the same, PERIOD.
inline constexpr std::uint64_t update_period = 1317624576693539401ULL;

/// Sequences one thread works through side by side, as HPC Challenge does.
inline constexpr std::size_t update_lanes = 128;
using UpdateLanes = std::array<std::uint64_t, update_lanes>;

/// Returns where the lanes of thread `thread` of `threads` begin: evenly spread over the period.
[[nodiscard]] UpdateLanes update_lanes_of(std::uint64_t thread, std::uint64_t threads);

/// Takes every lane `rounds` numbers further and updates the table, whose length is a power of two, with each.
void update_table(std::span<std::uint64_t> table, UpdateLanes& lanes, std::uint64_t rounds);

/// All threads update one table at random places, without locks, so that a few updates get lost. A pass is
/// `rounds_a_pass` rounds of each thread.
class UpdatesKernel final : public WindowedKernel {
 public:
  static constexpr std::uint64_t rounds_a_pass = 8;

  /// `ranks_on_node` share its memory.
  UpdatesKernel(const UpdatesParameters& parameters, int ranks_on_node);

  [[nodiscard]] Status make_ready(std::size_t thread) override;
  void run(std::size_t thread, std::uint64_t passes) override;
  /// Does all updates again by one thread, which undoes them: at most one element in a hundred may then be wrong.
  [[nodiscard]] Status check() override;
  void report(const WindowTotals& totals, Gauges& gauges) const override;

  [[nodiscard]] std::span<std::uint64_t> elements() const;

 private:
  struct alignas(128) Share {  // apart, since each is written by its own thread
    UpdateLanes lanes{};
    std::uint64_t rounds = 0;
  };

  UpdatesParameters parameters_;
  Status ready_;
  std::optional<Region> region_;
  std::vector<Share> shares_;
  std::uint64_t errors_ = 0;
};

}  // namespace ullage
