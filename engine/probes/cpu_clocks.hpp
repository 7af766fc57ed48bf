// SPDX-License-Identifier: Apache-2.0
// CPU time of other processes through their POSIX CPU-time clocks: exact to the ns, less than 1 us a process, for any
// user.
#pragma once

#include <ctime>

#include "base/clock.hpp"
#include "base/permutation.hpp"
#include "base/procfs.hpp"
#include "base/std.hpp"

namespace ullage {

/// Time in ns of a fixed chain of dependent integer operations, the shortest of three, about 30 us in all: what it
/// changes by, the core's clock has changed by.
[[nodiscard]] inline std::int64_t clock_chain_ns() {
  constexpr int runs = 3;  // the shortest has met no interrupt
  constexpr int links = 2000;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  for (int run = 0; run < runs; ++run) {
    const std::int64_t begun = now_ns();
    auto value = static_cast<std::uint64_t>(begun);  // not known to the compiler, so nothing is computed beforehand
    for (int i = 0; i < links; ++i) value = mix64(value);
    volatile std::uint64_t kept = value;
    (void)kept;
    shortest = std::min(shortest, now_ns() - begun);
  }
  return shortest;
}

inline constexpr int pid_limit = 1 << 22;  // of the kernel; the number of a clock has no room for more

class CpuClocks final {
 public:
  CpuClocks() = default;

  /// Processes of this process namespace.
  explicit CpuClocks(std::span<const int> pids) {
    for (const int pid : pids) {
      clockid_t clock{};
      if (pid > 0 && pid < pid_limit && clock_getcpuclockid(pid, &clock) == 0) clocks_.push_back(clock);
    }
  }

  /// One reading a process; negative where it has ended.
  [[nodiscard]] std::vector<std::int64_t> read_ns() const {
    std::vector<std::int64_t> readings;
    readings.reserve(clocks_.size());
    for (const clockid_t clock : clocks_) {
      timespec time{};
      const bool runs = clock_gettime(clock, &time) == 0;
      readings.push_back(runs ? static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec : -1);
    }
    return readings;
  }

  /// CPU time between two readings of the same clocks; processes that ended in between are left out.
  [[nodiscard]] static std::int64_t used_ns(std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
    if (before.size() != after.size()) return 0;
    std::int64_t used = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (before[i] >= 0 && after[i] >= before[i]) used += after[i] - before[i];
    return used;
  }

 private:
  std::vector<clockid_t> clocks_;
};

/// The kernel's own threads; nothing where this process namespace does not show them.
[[nodiscard]] inline std::optional<std::vector<int>> kernel_threads() {
  if (read_word("/proc/2/comm") != "kthreadd") return std::nullopt;
  const auto children = read_text("/proc/2/task/2/children");
  if (!children) return std::nullopt;
  return parse_pids(*children);
}

}  // namespace ullage
