// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <ctime>
#include <functional>

#include "base/std.hpp"

namespace ullage {

/// CLOCK_MONOTONIC in ns: never stepped, and comparable between ranks only after calibration (mpi/clock_sync.hpp).
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Median cost of one now_ns() on this core, in ns.
[[nodiscard]] inline std::int64_t clock_read_cost_ns() {
  constexpr int reads = 1000;
  std::array<std::int64_t, 9> costs{};
  for (std::int64_t& cost : costs) {
    const std::int64_t start = now_ns();
    for (int i = 0; i < reads - 1; ++i) (void)now_ns();
    cost = (now_ns() - start) / reads;
  }
  std::ranges::nth_element(costs, costs.begin() + costs.size() / 2);
  return costs[costs.size() / 2];
}

/// Time on cores, of the process (CLOCK_PROCESS_CPUTIME_ID) or of the thread that asks (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] inline std::int64_t cpu_time_ns(clockid_t of) noexcept {
  timespec time{};
  clock_gettime(of, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// How often work has to be repeated to last as long as is wanted, found by repeating it more and more often.

/// Repetitions that take this share of what is wanted are enough to extrapolate from.
inline constexpr double share_to_trust = 0.25;
inline constexpr double most_growth = 16;
inline constexpr int most_tries = 3;

/// Returns how many repetitions, at least one and at most `most`, last about `wanted_s`. `run(n)` makes n of them and
/// returns how many ns they took; where ranks do that together, all have to be told the same time. It is called a few
/// times with each number it is tried with, of which the shortest counts: what was interrupted looks long, too.
[[nodiscard]] inline std::uint64_t repetitions_that_last(
    double wanted_s, const std::function<std::int64_t(std::uint64_t)>& run,
    std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2) {
  const double wanted_ns = wanted_s * 1e9;
  const double long_ns = share_to_trust * wanted_ns;
  std::uint64_t repetitions = 1;
  for (bool is_long = false; !is_long;) {
    double took_ns = std::numeric_limits<double>::max();
    for (int tries = 0; tries < most_tries && took_ns >= long_ns; ++tries)
      took_ns = std::min(took_ns, std::max(1.0, static_cast<double>(run(repetitions))));
    is_long = took_ns >= long_ns || repetitions >= most;
    const double growth = is_long ? wanted_ns / took_ns : std::min(wanted_ns / took_ns, most_growth);
    const double wanted = std::round(static_cast<double>(repetitions) * growth);
    repetitions = static_cast<std::uint64_t>(std::clamp(wanted, 1.0, static_cast<double>(most)));
  }
  return repetitions;
}

}  // namespace ullage
