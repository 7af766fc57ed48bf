// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

#include <cstdint>

namespace ullage {

/// Time on cores, of the process (CLOCK_PROCESS_CPUTIME_ID) or of the thread that asks (CLOCK_THREAD_CPUTIME_ID).
[[nodiscard]] inline std::int64_t cpu_time_ns(clockid_t of) noexcept {
  timespec time{};
  clock_gettime(of, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace ullage
