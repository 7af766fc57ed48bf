// SPDX-License-Identifier: Apache-2.0
// What all windowed workloads on an accelerator share: one thread of the host asks, waits and reads both clocks.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "accelerator/device.hpp"
#include "work/windowed_phase.hpp"

namespace ullage::accelerator {

struct DeviceParameters : WindowParameters {
  std::string device = "first";

  [[nodiscard]] static Table<DeviceParameters> place() {
    return {text("device", &DeviceParameters::device,
                 "Choose the accelerator by its id, such as `opencl:0` (`ullage-engine devices` lists them); `first` "
                 "means the first GPU, or the first of all where there is none.")};
  }
};

/// A window asks for its passes one after the other and waits for the last. Its time is that of the host, from before
/// the first was asked for until the last has ended; that of the device's own clock stands beside it.
/// Gauges besides the workload's: device_s (0: the device does not say), limit and cache_bytes (0: not known).
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
    const DeviceFacts& facts = device_ ? (*device_)->facts() : DeviceFacts{};
    gauges["limit"] = limit(facts);
    gauges["cache_bytes"] = static_cast<double>(facts.cache_bytes);
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
  /// Of what is measured, by what the library says of the device; 0: it does not.
  [[nodiscard]] virtual double limit(const DeviceFacts& facts) const = 0;

  [[nodiscard]] Device& device() const { return **device_; }
  [[nodiscard]] Status put(const Memory& to, std::uint64_t offset, const void* from, std::uint64_t bytes) const {
    if (Status copied = device().copy_to_device(to, offset, from, bytes); !copied) return copied;
    return device().finish();
  }
  [[nodiscard]] Status fetch(void* to, const Memory& from, std::uint64_t offset, std::uint64_t bytes) const {
    if (Status copied = device().copy_to_host(to, from, offset, bytes); !copied) return copied;
    return device().finish();
  }
  [[nodiscard]] Error wrong(const std::string& what, std::string expected, std::string found) const {
    const std::string text = what + " is " + found + ", should be " + expected;
    return verification_error("check", "memory of " + device().facts().id, text, std::move(expected), std::move(found));
  }
  /// Memory of the device that holds zeros.
  [[nodiscard]] Result<MemoryPointer> zeros(std::uint64_t bytes) const {
    auto made = device().allocate(bytes);
    if (!made) return made;
    const std::vector<std::byte> nothing(bytes);
    if (Status copied = put(**made, 0, nothing.data(), bytes); !copied) return fail(copied.error());
    return made;
  }
  [[nodiscard]] std::uint64_t passes() const { return passes_; }

  Status failed_;  // the first call of the device that went wrong

 private:
  Result<Device*> device_;
  std::uint64_t passes_ = 0;
  double device_s_ = 0;
};

}  // namespace ullage::accelerator
