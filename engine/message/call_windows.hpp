// SPDX-License-Identifier: Apache-2.0
// Timed stretches of many calls each, the same number on all ranks, so that reading the clock costs nothing.
#pragma once

#include <functional>

#include "base/clock.hpp"
#include "base/parameters.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage {

struct CallWindowParameters {
  int windows = 5;
  double window_s = 0.01;
  double warm_up_s = 0.01;

  [[nodiscard]] static Table<CallWindowParameters> table() {
    using P = CallWindowParameters;
    return {
        count("windows", &P::windows, {1, 100'000}, "Time this many windows."),
        seconds("window_s", &P::window_s, {1e-5, 60},
                "Let each window last this many seconds. A single call may take longer."),
        seconds("warm_up_s", &P::warm_up_s, {0, 60},
                "Run the same calls for this many seconds before the first window."),
    };
  }
};

inline constexpr std::uint64_t most_calls = 1'000'000'000;

/// Returns how many calls make a window, agreed between the ranks of `comm`, and the warm-up. `run(calls)` makes them
/// and returns the ns this rank took; it is called equally often on all ranks. Collective.
[[nodiscard]] inline std::uint64_t calls_of_a_window(const mpi::Comm& comm, const CallWindowParameters& parameters,
                                                     const std::function<std::int64_t(std::uint64_t)>& run) {
  const auto slowest_rank_ns = [&](std::uint64_t calls) { return comm.max(run(calls)); };
  const std::uint64_t calls = repetitions_that_last(parameters.window_s, slowest_rank_ns, most_calls);
  for (double left_s = parameters.warm_up_s; left_s > 0;)
    left_s -= 1e-9 * static_cast<double>(std::max<std::int64_t>(1, slowest_rank_ns(calls)));
  return calls;
}

}  // namespace ullage
