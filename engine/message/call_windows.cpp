// SPDX-License-Identifier: Apache-2.0
#include "message/call_windows.hpp"

#include <algorithm>
#include <cmath>

namespace ullage {
namespace {

/// A window this long is long enough to extrapolate from.
constexpr double window_share_to_trust = 0.25;
constexpr double most_window_growth = 16;
constexpr double most_calls = 1e9;
constexpr int most_tries = 3;

using Run = std::function<std::int64_t(std::uint64_t)>;

double slowest_rank_ns(const mpi::Comm& comm, const Run& run, double calls) {
  return std::max(1.0, static_cast<double>(comm.max(run(static_cast<std::uint64_t>(calls)))));
}

/// Of as many windows as needed for one below `long_ns`, at most a few: one that was interrupted looks long, too.
double shortest_of_tries_ns(const mpi::Comm& comm, const Run& run, double calls, double long_ns) {
  double shortest_ns = slowest_rank_ns(comm, run, calls);
  for (int tries = 1; tries < most_tries && shortest_ns >= long_ns; ++tries)
    shortest_ns = std::min(shortest_ns, slowest_rank_ns(comm, run, calls));
  return shortest_ns;
}

}  // namespace

std::uint64_t calls_of_a_window(const mpi::Comm& comm, const CallWindowParameters& parameters,
                                const std::function<std::int64_t(std::uint64_t)>& run) {
  const double wanted_ns = parameters.window_s * 1e9;
  const double long_ns = window_share_to_trust * wanted_ns;
  double calls = 1;
  for (bool is_long = false; !is_long;) {
    const double took_ns = shortest_of_tries_ns(comm, run, calls, long_ns);
    is_long = took_ns >= long_ns || calls >= most_calls;
    const double growth = wanted_ns / took_ns;
    calls = std::clamp(std::floor(calls * (is_long ? growth : std::min(growth, most_window_growth))), 1.0, most_calls);
  }
  for (double left_ns = parameters.warm_up_s * 1e9; left_ns > 0;) left_ns -= slowest_rank_ns(comm, run, calls);
  return static_cast<std::uint64_t>(calls);
}

}  // namespace ullage
