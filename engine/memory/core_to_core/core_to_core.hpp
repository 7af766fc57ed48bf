// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "base/std.hpp"
#include "work/windowed_phase.hpp"

namespace ullage {

struct CoreToCoreParameters : WindowParameters {
  int cpu_a = -1;
  int cpu_b = -1;

  CoreToCoreParameters() { threads = 2; }
  [[nodiscard]] static Table<CoreToCoreParameters> table();
};

/// Numbers are the kernel's, as everywhere else.
[[nodiscard]] Status check_core_to_core(const CoreToCoreParameters& parameters, const std::string& pointer);

/// The CPUs of both threads, out of those `allowed`; an error when one is not among them or both are the same.
[[nodiscard]] Result<std::vector<int>> choose_pair(const CoreToCoreParameters& parameters,
                                                   std::span<const int> allowed);

/// Two threads pass a counter to and fro in one cache line: each waits for the other's number and writes the next. A
/// pass is `trips_a_pass` round trips.
class CoreToCoreKernel final : public WindowedKernel {
 public:
  static constexpr std::uint64_t trips_a_pass = 64;

  /// `ready` is what make_ready() returns when something was wrong before.
  explicit CoreToCoreKernel(Status ready) : ready_(std::move(ready)) {}

  [[nodiscard]] Status make_ready(std::size_t) override { return ready_; }
  void run(std::size_t thread, std::uint64_t passes) override;
  /// The counter must have gone up by two each round trip of either thread.
  [[nodiscard]] Status check() override;
  void report(const WindowTotals& totals, Gauges& gauges) const override;

  /// Returns what the threads pass, for tests that spoil it.
  [[nodiscard]] std::atomic<std::uint64_t>& counter() { return ball_.counter; }

 private:
  struct alignas(128) Ball {  // two lines, since prefetchers fetch them in pairs
    std::atomic<std::uint64_t> counter = 0;
  };
  struct alignas(128) Trips {
    std::uint64_t made = 0;
  };

  Status ready_;
  Ball ball_;
  std::array<Trips, 2> trips_;
};

}  // namespace ullage
