// SPDX-License-Identifier: Apache-2.0
// Workload `device-copy`: how fast data goes from the memory of the host to that of a device, and back.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "accelerator/device_kernel.hpp"
#include "work/entry.hpp"

namespace ullage::accelerator {
namespace {

enum class Direction { to_device, to_host };
enum class HostMemory { pinned, pageable };

struct DeviceCopyParameters : DeviceParameters {
  Direction direction = Direction::to_device;
  HostMemory memory = HostMemory::pinned;
  std::uint64_t size_bytes = std::uint64_t{64} << 20U;

  [[nodiscard]] static Table<DeviceCopyParameters> table() {
    using P = DeviceCopyParameters;
    return joined<P>(
        DeviceParameters::place(),
        Table<P>{
            choice("direction", &P::direction, {{Direction::to_device, "to-device"}, {Direction::to_host, "to-host"}},
                   "Choose whether data goes to the device or to the host."),
            choice("host_memory", &P::memory, {{HostMemory::pinned, "pinned"}, {HostMemory::pageable, "pageable"}},
                   "Choose memory of the host that the library has pinned, so that the device reaches it by "
                   "itself, or ordinary memory, which the library copies once more."),
            bytes("size_bytes", &P::size_bytes, {1, 1e12}, "Copy this many bytes at a time.")},
        WindowParameters::timing());
  }
};

/// A pass is one copy. The source has two halves that are copied in turn to one place, so that what the last copy left
/// is no earlier one's.
class DeviceCopy final : public DeviceKernel {
 public:
  DeviceCopy(const DeviceCopyParameters& parameters, std::uint64_t key)
      : DeviceKernel(parameters.device),
        to_device_(parameters.direction == Direction::to_device),
        is_pinned_(parameters.memory == HostMemory::pinned),
        size_(parameters.size_bytes),
        key_(key) {}

  [[nodiscard]] std::uint64_t bytes_a_pass() const override { return size_; }

  [[nodiscard]] Status check() override {
    if (!failed_) return failed_;
    std::vector<std::byte> fetched(to_device_ ? size_ : 0);
    if (to_device_)
      if (Status copied = fetch(fetched.data(), *device_memory_, 0, size_); !copied) return copied;
    const std::byte* const found = to_device_ ? fetched.data() : host_.get();
    const std::vector<std::byte> right = half((passes() - 1) % 2);
    const auto differs =
        static_cast<std::uint64_t>(std::mismatch(right.begin(), right.end(), found).first - right.begin());
    if (differs == size_) return {};
    return fail(wrong("byte " + std::to_string(differs), std::to_string(std::to_integer<int>(right[differs])),
                      std::to_string(std::to_integer<int>(found[differs]))));
  }

 protected:
  [[nodiscard]] Status prepare() override {
    auto memory = device().allocate(size_ * (to_device_ ? 1 : 2));
    if (!memory) return fail(memory.error());
    device_memory_ = *memory;
    widest_link_ = link_of(device().facts().pci, "max").rate;
    const std::uint64_t host_bytes = size_ * (to_device_ ? 2 : 1);
    if (is_pinned_) {
      auto pinned = device().allocate_pinned(host_bytes);
      if (!pinned) return fail(pinned.error());
      host_ = *pinned;
    } else {
      const auto own = std::make_shared<std::vector<std::byte>>(host_bytes);
      host_ = HostPointer(own, own->data());
    }
    for (std::uint64_t which = 0; which < 2; ++which) {
      const std::vector<std::byte> data = half(which);
      if (to_device_)
        std::ranges::copy(data, host_.get() + which * size_);
      else if (Status copied = put(*device_memory_, which * size_, data.data(), size_); !copied)
        return copied;
    }
    return {};
  }

  [[nodiscard]] Status launch(std::uint64_t pass) override {
    const std::uint64_t offset = pass % 2 * size_;
    return to_device_ ? device().copy_to_device(*device_memory_, 0, host_.get() + offset, size_)
                      : device().copy_to_host(host_.get(), *device_memory_, offset, size_);
  }

  void add_gauges(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["device_bytes"] = static_cast<double>(totals.passes) * static_cast<double>(size_);
    gauges["widest_link"] = widest_link_;
  }
  /// Read behind the copies: a link that rests may be slower.
  [[nodiscard]] double limit(const DeviceFacts& facts) const override { return link_of(facts.pci, "current").rate; }

 private:
  [[nodiscard]] std::vector<std::byte> half(std::uint64_t which) const {
    std::vector<std::byte> data(size_);
    for (std::uint64_t i = 0; i < size_; i += sizeof i) {
      const std::uint64_t scattered = (key_ + 2 * i + which) * 0x9e3779b97f4a7c15U;
      std::memcpy(&data[i], &scattered, std::min<std::uint64_t>(sizeof scattered, size_ - i));
    }
    return data;
  }

  bool to_device_;
  bool is_pinned_;
  std::uint64_t size_;
  std::uint64_t key_;
  double widest_link_ = 0;
  MemoryPointer device_memory_;
  HostPointer host_;
};

std::unique_ptr<Workload> make_device_copy(const DeviceCopyParameters& parameters, const WorkloadContext& context) {
  return windowed_workload("device-copy", parameters, context,
                           std::make_unique<DeviceCopy>(parameters, context.run_key));
}

const Registered<WorkloadEntry> registered_device_copy{[] {
  return without_storage<DeviceCopyParameters>({
      .name = "device-copy",
      .doc = "Measures copies between the memory of the host and that of an accelerator. It checks every byte.",
      .make = make_device_copy,
  });
}()};

}  // namespace
}  // namespace ullage::accelerator
