// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <limits>

namespace ullage {

/// CLOCK_MONOTONIC in ns: never stepped, and comparable between ranks only after calibration (mpi/clock_sync.hpp).
[[nodiscard]] inline std::int64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

/// Median cost of one now_ns() on this core, in ns.
[[nodiscard]] std::int64_t clock_read_cost_ns();

/// Time on cores, of the process (CLOCK_PROCESS_CPUTIME_ID) or of the thread that asks (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] inline std::int64_t cpu_time_ns(clockid_t of) noexcept {
  timespec time{};
  clock_gettime(of, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// How often work has to be repeated to last as long as is wanted, found by repeating it more and more often.

/// Returns how many repetitions, at least one and at most `most`, last about `wanted_s`. `run(n)` makes n of them and
/// returns how many ns they took; where ranks do that together, all have to be told the same time. It is called a few
/// times with each number it is tried with, of which the shortest counts: what was interrupted looks long, too.
[[nodiscard]] std::uint64_t repetitions_that_last(double wanted_s,
                                                  const std::function<std::int64_t(std::uint64_t)>& run,
                                                  std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / 2);

}  // namespace ullage
