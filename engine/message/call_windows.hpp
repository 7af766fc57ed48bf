// SPDX-License-Identifier: Apache-2.0
// Timed stretches of many calls each, the same number on all ranks, so that reading the clock costs nothing.
#pragma once

#include <cstdint>
#include <functional>

#include "base/parameters.hpp"
#include "mpi/comm.hpp"

namespace ullage {

struct CallWindowParameters {
  int windows = 5;
  double window_s = 0.01;
  double warm_up_s = 0.01;

  [[nodiscard]] static Table<CallWindowParameters> table();
};

/// Returns how many calls make a window, agreed between the ranks of `comm`, and the warm-up. `run(calls)` makes them
/// and returns the ns this rank took; it is called equally often on all ranks. Collective.
[[nodiscard]] std::uint64_t calls_of_a_window(const mpi::Comm& comm, const CallWindowParameters& parameters,
                                              const std::function<std::int64_t(std::uint64_t)>& run);

}  // namespace ullage
