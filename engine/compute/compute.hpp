// SPDX-License-Identifier: Apache-2.0
// Threads that run one compute kernel in windows, and the comparison of what they computed.
#pragma once

#include "base/std.hpp"
#include "compute/kernel.hpp"
#include "work/windowed_phase.hpp"

namespace ullage::compute {

/// A pass is one body of the kernel's loop. The chains begin again after every stretch of the kernel; what the last
/// stretch of each thread left is compared with the reference.
class ChainKernel final : public WindowedKernel {
 public:
  ChainKernel(const Kernel& kernel, const Variant& variant, std::size_t threads);

  [[nodiscard]] Status make_ready(std::size_t thread) override;
  void run(std::size_t thread, std::uint64_t passes) override;
  [[nodiscard]] Status check() override;
  /// operations, instructions (of all threads)
  void report(const WindowTotals& totals, Gauges& gauges) const override;

  /// Returns what this thread computes with and has computed; for tests.
  [[nodiscard]] KernelData& data(std::size_t thread) { return *threads_.at(thread).data; }

 private:
  struct Thread {
    std::unique_ptr<KernelData> data;
    std::uint64_t last_passes = 0;  // of its last stretch
  };

  const Kernel& kernel_;
  const Variant& variant_;
  std::uint64_t passes_a_stretch_;
  std::vector<Thread> threads_;
};

}  // namespace ullage::compute
