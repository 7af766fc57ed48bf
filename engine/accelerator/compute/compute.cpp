// SPDX-License-Identifier: Apache-2.0
// Workload `device-compute`: multiply-adds of the vector units of a device.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "accelerator/device_kernel.hpp"
#include "work/entry.hpp"

namespace ullage::accelerator {
namespace {

enum class Real { fp64, fp32 };

/// As kernels.cl has them.
constexpr std::uint64_t chains = 8;
constexpr std::uint64_t steps_a_round = 16;
constexpr std::uint64_t starts = 32;
/// Work items of each unit: as many as a multiprocessor can hold.
constexpr std::uint64_t items_a_unit = 2048;

struct DeviceComputeParameters : DeviceParameters {
  Real real = Real::fp64;
  std::uint64_t rounds = 1024;

  [[nodiscard]] static Table<DeviceComputeParameters> table() {
    using P = DeviceComputeParameters;
    return joined<P>(
        DeviceParameters::place(),
        Table<P>{choice("type", &P::real, {{Real::fp64, "fp64"}, {Real::fp32, "fp32"}}, "Choose the type of numbers."),
                 count("rounds", &P::rounds, {1, 65536},
                       "Let each work item of a launch do this many rounds of 128 multiply-adds.")},
        WindowParameters::timing());
  }
};

template <class T>
struct Operands {
  T m;
  T there;
  T back;
};

/// Sums and products of them are near one, and use all bits; m differs from pass to pass.
template <class T>
[[nodiscard]] Operands<T> operands(std::uint64_t pass) {
  const T there = static_cast<T>(0.6180339887498949);
  return {static_cast<T>(0.5 + 0.7071067811865475 * static_cast<double>(pass % 8 + 1) / 16), there,
          -there * static_cast<T>(1 - 0x1p-10)};
}

/// What a work item leaves that begins with `start`.
template <class T>
[[nodiscard]] T result_of(const Operands<T>& given, std::uint64_t start, std::uint64_t rounds) {
  std::array<T, chains> sums{};
  for (std::size_t chain = 0; chain < chains; ++chain) {
    T sum = static_cast<T>(start) + static_cast<T>(chain);
    for (std::uint64_t step = 0; step < rounds * steps_a_round; ++step)
      sum = std::fma(given.m, step % 2 == 0 ? given.there : given.back, sum);
    sums.at(chain) = sum;
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// A pass is one launch that fills the device; what the last one left is compared bit for bit.
template <class T>
class DeviceCompute final : public DeviceKernel {
 public:
  explicit DeviceCompute(const DeviceComputeParameters& parameters)
      : DeviceKernel(parameters.device), rounds_(parameters.rounds) {}

  [[nodiscard]] Status check() override {
    if (!failed_) return failed_;
    std::vector<T> found(items_);
    if (Status copied = fetch(found.data(), *sums_, 0, sums_->bytes); !copied) return copied;
    std::array<T, starts> right{};
    for (std::uint64_t start = 0; start < starts; ++start)
      right.at(start) = result_of(operands<T>(passes() - 1), start, rounds_);
    for (std::uint64_t i = 0; i < items_; ++i)
      if (std::bit_cast<Bits>(found[i]) != std::bit_cast<Bits>(right.at(i % starts)))
        return fail(wrong("the sum of work item " + std::to_string(i), std::to_string(right.at(i % starts)),
                          std::to_string(found[i])));
    return {};
  }

 protected:
  [[nodiscard]] Status prepare() override {
    if (is_fp64 && !device().facts().has_fp64)
      return fail(device_error(device().facts().id, "has no 64-bit floating point"));
    items_ = std::max<std::uint64_t>(1, device().facts().units) * items_a_unit;
    auto sums = zeros(items_ * sizeof(T));
    if (!sums) return fail(sums.error());
    sums_ = *sums;
    auto kernel = device().kernel(all_kernels, is_fp64 ? "multiply_add_fp64" : "multiply_add_fp32");
    if (!kernel) return fail(kernel.error());
    kernel_ = *kernel;
    return {};
  }

  [[nodiscard]] Status launch(std::uint64_t pass) override {
    const Operands<T> own = operands<T>(pass);
    const std::array<Argument, 5> arguments{sums_, own.m, own.there, own.back, rounds_};
    return device().launch(kernel_, {.count = items_}, arguments);
  }

  void add_gauges(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["device_operations"] =
        static_cast<double>(totals.passes) * static_cast<double>(items_ * 2 * chains * steps_a_round * rounds_);
  }
  [[nodiscard]] double limit(const DeviceFacts& facts) const override {
    return is_fp64 ? facts.fp64_rate : facts.fp32_rate;
  }

 private:
  static constexpr bool is_fp64 = sizeof(T) == 8;
  using Bits = std::conditional_t<is_fp64, std::uint64_t, std::uint32_t>;

  std::uint64_t rounds_;
  std::uint64_t items_ = 0;
  MemoryPointer sums_;
  Kernel kernel_;
};

std::unique_ptr<Workload> make_device_compute(const DeviceComputeParameters& parameters,
                                              const WorkloadContext& context) {
  std::unique_ptr<WindowedKernel> kernel;
  if (parameters.real == Real::fp64)
    kernel = std::make_unique<DeviceCompute<double>>(parameters);
  else
    kernel = std::make_unique<DeviceCompute<float>>(parameters);
  return windowed_workload("device-compute", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_device_compute{[] {
  return without_storage<DeviceComputeParameters>({
      .name = "device-compute",
      .doc = "Measures the rate of multiply-adds of an accelerator's vector units. It checks every result.",
      .make = make_device_compute,
  });
}()};

}  // namespace
}  // namespace ullage::accelerator
