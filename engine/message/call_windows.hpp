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
};

/// The fields of the above in the table of a struct P that derives from it.
template <class P>
Table<P> call_window_fields() {
  return {
      count<P>("windows", static_cast<int P::*>(&CallWindowParameters::windows), {1, 100'000}, "timed stretches"),
      seconds<P>("window_s", static_cast<double P::*>(&CallWindowParameters::window_s), {1e-5, 60},
                 "how long each shall last; a single call may take longer"),
      seconds<P>("warm_up_s", static_cast<double P::*>(&CallWindowParameters::warm_up_s), {0, 60},
                 "of the same calls before the first"),
  };
}

/// How many calls make a window, agreed between the ranks of `comm`, and the warm-up. `run(calls)` makes them and
/// returns the ns this rank took; it is called equally often on all ranks. Collective.
[[nodiscard]] std::uint64_t calls_of_a_window(const mpi::Comm& comm, const CallWindowParameters& parameters,
                                              const std::function<std::int64_t(std::uint64_t)>& run);

}  // namespace ullage
