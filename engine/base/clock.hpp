// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

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

}  // namespace ullage
