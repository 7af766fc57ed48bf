// SPDX-License-Identifier: Apache-2.0
// CPU time of other processes through their POSIX CPU-time clocks: exact to the ns, less than 1 us a process, for any
// user.
#pragma once

#include <ctime>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace ullage {

class CpuClocks final {
 public:
  CpuClocks() = default;
  /// Processes of this process namespace.
  explicit CpuClocks(std::span<const int> pids);
  /// One reading a process; negative where it has ended.
  [[nodiscard]] std::vector<std::int64_t> read_ns() const;
  /// CPU time between two readings of the same clocks; processes that ended in between are left out.
  [[nodiscard]] static std::int64_t used_ns(std::span<const std::int64_t> before, std::span<const std::int64_t> after);

 private:
  std::vector<clockid_t> clocks_;
};

/// The kernel's own threads; nothing where this process namespace does not show them.
[[nodiscard]] std::optional<std::vector<int>> kernel_threads();

}  // namespace ullage
