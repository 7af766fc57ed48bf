// SPDX-License-Identifier: Apache-2.0
// What all windowed workloads on an accelerator share: one thread of the host asks, waits and reads both clocks.
#pragma once

#include <string>
#include <utility>

#include "accelerator/device.hpp"
#include "work/windowed_phase.hpp"

namespace ullage::accelerator {

inline constexpr const char* device_doc =
    "Choose the accelerator by its id, such as `opencl:0` (`ullage-engine devices` lists them); `first` "
    "means the first GPU, or the first of all where there is none.";

/// A window asks for its passes one after the other and waits for the last. Its time is that of the host, from before
/// the first was asked for until the last has ended; that of the device's own clock stands beside it.
/// Gauges besides the workload's: device_s (0: the device does not say), memory_rate_limit and
/// cache_bytes (0: not known).
class DeviceKernel : public WindowedKernel {
 public:
  /// Opens the device at once: later calls come from a thread that is bound to a core.
  explicit DeviceKernel(const std::string& id) : device_(open_device(id)) {}

  [[nodiscard]] Status make_ready(std::size_t) final {
    if (!device_) return fail(device_.error());
    if (Status ready = prepare(); !ready) return ready;
    run(0, 1);  // the first launch may compile
    return failed_;
  }

  void run(std::size_t, std::uint64_t passes) final {
    if (failed_) failed_ = device().start_clock();
    for (std::uint64_t i = 0; i < passes && failed_; ++i) failed_ = launch(passes_++);
    if (!failed_) return;
    const auto took_s = device().stop_clock();
    if (took_s)
      device_s_ += *took_s;
    else
      failed_ = fail(took_s.error());
  }

  void timing_begins() final { device_s_ = 0; }

  void report(const WindowTotals& totals, Gauges& gauges) const final {
    gauges["device_s"] = device_s_;
    gauges["memory_rate_limit"] = device_ ? (*device_)->facts().memory_rate : 0;
    gauges["cache_bytes"] = device_ ? static_cast<double>((*device_)->facts().cache_bytes) : 0;
    add_gauges(totals, gauges);
  }

  /// What the library says of the device, for the record.
  [[nodiscard]] Map facts() const final {
    if (!device_) return {};
    const DeviceFacts& facts = (*device_)->facts();
    return {{"device", facts.id}, {"name", facts.name}, {"platform", facts.platform}, {"driver", facts.driver}};
  }

 protected:
  /// Untimed: memory, data and kernels.
  [[nodiscard]] virtual Status prepare() = 0;
  /// Asks for pass number `pass`; passes are counted from 0.
  [[nodiscard]] virtual Status launch(std::uint64_t pass) = 0;
  virtual void add_gauges(const WindowTotals& totals, Gauges& gauges) const = 0;

  [[nodiscard]] Device& device() const { return **device_; }
  [[nodiscard]] std::uint64_t passes() const { return passes_; }

  Status failed_;  // the first call of the device that went wrong

 private:
  Result<Device*> device_;
  std::uint64_t passes_ = 0;
  double device_s_ = 0;
};

}  // namespace ullage::accelerator
