// SPDX-License-Identifier: Apache-2.0
// Workload `device-launch`: how long the smallest kernel takes, from the host's call until the host knows that it
// ended.
#include <array>
#include <memory>
#include <string>

#include "accelerator/device_kernel.hpp"
#include "work/entry.hpp"

namespace ullage::accelerator {
namespace {

enum class Waiting { each, last };

struct DeviceLaunchParameters : DeviceParameters {
  Waiting waiting = Waiting::each;

  [[nodiscard]] static Table<DeviceLaunchParameters> table() {
    using P = DeviceLaunchParameters;
    return joined<P>(
        DeviceParameters::place(),
        Table<P>{choice("wait", &P::waiting, {{Waiting::each, "each"}, {Waiting::last, "last"}},
                        "Wait for the end of each launch, or of the last one of a window, behind which all others are "
                        "in the queue.")},
        WindowParameters::timing());
  }
};

/// A pass is one launch, of one work item that counts it.
class DeviceLaunch final : public DeviceKernel {
 public:
  explicit DeviceLaunch(const DeviceLaunchParameters& parameters)
      : DeviceKernel(parameters.device), waiting_(parameters.waiting) {}

  [[nodiscard]] Status check() override {
    std::uint64_t found = 0;
    if (!failed_) return failed_;
    if (Status copied = fetch(&found, *counter_, 0, sizeof found); !copied) return copied;
    if (found == passes()) return {};
    return fail(wrong("the number of launches", std::to_string(passes()), std::to_string(found)));
  }

 protected:
  [[nodiscard]] Status prepare() override {
    auto counter = zeros(sizeof(std::uint64_t));
    if (!counter) return fail(counter.error());
    counter_ = *counter;
    auto kernel = device().kernel(all_kernels, "add");
    if (!kernel) return fail(kernel.error());
    kernel_ = *kernel;
    return {};
  }

  [[nodiscard]] Status launch(std::uint64_t) override {
    constexpr std::uint64_t one = 1;
    const std::array<Argument, 2> arguments{counter_, one};
    const Status launched = device().launch(kernel_, {.count = 1, .group = 1}, arguments);
    return launched && waiting_ == Waiting::each ? device().finish() : launched;
  }

  void add_gauges(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["launches"] = static_cast<double>(totals.passes);
  }
  [[nodiscard]] double limit(const DeviceFacts&) const override { return 0; }

 private:
  Waiting waiting_;
  MemoryPointer counter_;
  Kernel kernel_;
};

std::unique_ptr<Workload> make_device_launch(const DeviceLaunchParameters& parameters, const WorkloadContext& context) {
  return windowed_workload("device-launch", parameters, context, std::make_unique<DeviceLaunch>(parameters));
}

const Registered<WorkloadEntry> registered_device_launch{[] {
  return without_storage<DeviceLaunchParameters>({
      .name = "device-launch",
      .doc = "Measures how long a launch of the smallest kernel of an accelerator takes. It counts the launches.",
      .make = make_device_launch,
  });
}()};

}  // namespace
}  // namespace ullage::accelerator
