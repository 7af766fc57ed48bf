// SPDX-License-Identifier: Apache-2.0
#include "probes/cpu_clocks.hpp"

#include <cstddef>

#include "base/procfs.hpp"

namespace ullage {

namespace {

constexpr int pid_limit = 1 << 22;  // of the kernel; the number of a clock has no room for more

}  // namespace

CpuClocks::CpuClocks(std::span<const int> pids) {
  for (const int pid : pids) {
    clockid_t clock{};
    if (pid > 0 && pid < pid_limit && clock_getcpuclockid(pid, &clock) == 0) clocks_.push_back(clock);
  }
}

std::vector<std::int64_t> CpuClocks::read_ns() const {
  std::vector<std::int64_t> readings;
  readings.reserve(clocks_.size());
  for (const clockid_t clock : clocks_) {
    timespec time{};
    const bool runs = clock_gettime(clock, &time) == 0;
    readings.push_back(runs ? static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec : -1);
  }
  return readings;
}

std::int64_t CpuClocks::used_ns(std::span<const std::int64_t> before, std::span<const std::int64_t> after) {
  if (before.size() != after.size()) return 0;
  std::int64_t used = 0;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] >= 0 && after[i] >= before[i]) used += after[i] - before[i];
  return used;
}

std::optional<std::vector<int>> kernel_threads() {
  if (read_word("/proc/2/comm") != "kthreadd") return std::nullopt;
  const auto children = read_text("/proc/2/task/2/children");
  if (!children) return std::nullopt;
  return parse_pids(*children);
}

}  // namespace ullage
