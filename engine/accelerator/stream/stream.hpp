// SPDX-License-Identifier: Apache-2.0
// Loops over the memory of a device, and the check of what they leave.
#pragma once

#include <algorithm>
#include <bit>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "accelerator/device_kernel.hpp"
#include "memory/stream/job.hpp"
#include "work/entry.hpp"

namespace ullage::accelerator {

/// Every work item of read has so many elements; each of the others has one.
inline constexpr std::uint64_t elements_each = 16;
inline constexpr std::uint64_t pair_bytes = 16;
inline constexpr std::uint64_t array_unit = Grid{}.group * elements_each * pair_bytes;
inline constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20U;

struct DeviceStreamParameters : DeviceParameters {
  StreamKind kind = StreamKind::triad;
  std::uint64_t working_set_bytes = std::uint64_t{256} << 20U;

  [[nodiscard]] static Table<DeviceStreamParameters> table() {
    using P = DeviceStreamParameters;
    return joined<P>(
        DeviceParameters::place(),
        Table<P>{
            choice("kernel", &P::kind,
                   {{StreamKind::read, "read"},
                    {StreamKind::write, "write"},
                    {StreamKind::copy, "copy"},
                    {StreamKind::triad, "triad"}},
                   "Choose the kernel: read (`sum of b`), write (`a = s`), copy (`a = b`) or triad (`a = b + s*c`, "
                   "in 64-bit floating point)."),
            bytes("working_set_bytes", &P::working_set_bytes, {array_unit, 1e15},
                  "Use this many bytes for all arrays. Each array gets an equal share, in whole pieces of 64 KiB.")},
        WindowParameters::timing());
  }

  [[nodiscard]] std::uint64_t array_bytes() const {
    return working_set_bytes / arrays_of(kind) / array_unit * array_unit;
  }
};

/// A pass is one launch over all arrays.
class DeviceStream final : public DeviceKernel {
 public:
  DeviceStream(const DeviceStreamParameters& parameters, std::uint64_t key)
      : DeviceKernel(parameters.device), kind_(parameters.kind), key_(key), array_bytes_(parameters.array_bytes()) {}

  [[nodiscard]] std::uint64_t bytes_a_pass() const override { return array_bytes_ * application_arrays(kind_); }

  [[nodiscard]] Status check() override {
    if (!failed_) return failed_;
    return kind_ == StreamKind::read ? check_sums() : check_elements();
  }

  /// What is read, or else written; for tests.
  [[nodiscard]] const Memory& memory() const { return *arrays_[0]; }

 protected:
  [[nodiscard]] Status prepare() override {
    if (kind_ == StreamKind::triad && !device().facts().has_fp64)
      return fail(device_error(device().facts().id, "has no 64-bit floating point, which triad needs"));
    for (std::size_t array = kind_ == StreamKind::read ? 1 : 0; array < 3 && needs(array); ++array) {
      auto memory = device().allocate(array_bytes_);
      if (!memory) return fail(memory.error());
      arrays_.push_back(std::move(*memory));
      if (Status filled = fill(*arrays_.back(), array); !filled) return filled;
    }
    if (kind_ == StreamKind::read)
      if (Status ready = make_sums(); !ready) return ready;
    auto kernel = device().kernel(all_kernels, name());
    if (!kernel) return fail(kernel.error());
    kernel_ = *kernel;
    return {};
  }

  [[nodiscard]] Status launch(std::uint64_t pass) override {
    const std::uint64_t elements = array_bytes_ / pair_bytes;
    const double factor = stream_factor(pass);
    switch (kind_) {
      case StreamKind::read:
        return launch_over(elements / elements_each, {arrays_[0], arrays_[1], elements_each});
      case StreamKind::write: {
        const auto bits = std::bit_cast<std::uint64_t>(factor);
        return launch_over(elements, {arrays_[0], bits});
      }
      case StreamKind::copy:
        return launch_over(elements, {arrays_[0], arrays_[1]});
      default:
        return launch_over(elements, {arrays_[0], arrays_[1], arrays_[2], factor});
    }
  }

  void add_gauges(const WindowTotals& totals, Gauges& gauges) const override {
    gauges["device_bytes"] = static_cast<double>(totals.passes) * static_cast<double>(bytes_a_pass());
    gauges["used_bytes"] = static_cast<double>(array_bytes_ * arrays_of(kind_));
  }

  [[nodiscard]] double limit(const DeviceFacts& facts) const override { return facts.memory_rate; }

 private:
  [[nodiscard]] const char* name() const {
    switch (kind_) {
      case StreamKind::read:
        return "stream_read";
      case StreamKind::write:
        return "stream_write";
      case StreamKind::copy:
        return "stream_copy";
      default:
        return "stream_triad";
    }
  }
  [[nodiscard]] bool needs(std::size_t array) const {
    return kind_ == StreamKind::read ? array == 1 : array < arrays_of(kind_);
  }

  [[nodiscard]] Status launch_over(std::uint64_t count, std::initializer_list<Argument> arguments) {
    return device().launch(kernel_, {.count = count}, {arguments.begin(), arguments.size()});
  }

  [[nodiscard]] Status make_sums() {
    auto sums = zeros(array_bytes_ / pair_bytes / elements_each * sizeof(std::uint64_t));
    if (!sums) return fail(sums.error());
    arrays_.push_back(std::move(*sums));
    return {};
  }

  /// The array is filled from the host, so that what a device reads was not made by it.
  [[nodiscard]] Status fill(const Memory& memory, std::size_t array) {
    std::vector<double> chunk(std::min(chunk_bytes, array_bytes_) / sizeof(double));
    for (std::uint64_t done = 0; done < array_bytes_;) {
      const std::uint64_t count = std::min<std::uint64_t>(chunk.size(), (array_bytes_ - done) / sizeof(double));
      for (std::uint64_t i = 0; i < count; ++i) {
        chunk[i] = stream_value(array, key_ + done / sizeof(double) + i);
        if (kind_ == StreamKind::read) sum_a_pass_ += std::bit_cast<std::uint64_t>(chunk[i]);
      }
      if (Status copied = put(memory, done, chunk.data(), count * sizeof(double)); !copied) return copied;
      done += count * sizeof(double);
    }
    return {};
  }

  [[nodiscard]] Status check_sums() {
    std::vector<std::uint64_t> sums(arrays_[1]->bytes / sizeof(std::uint64_t));
    if (Status copied = fetch(sums.data(), *arrays_[1], 0, arrays_[1]->bytes); !copied) return copied;
    std::uint64_t found = 0;
    for (const std::uint64_t sum : sums) found += sum;
    const std::uint64_t right = sum_a_pass_ * passes();
    if (found == right) return {};
    return fail(wrong("the sum of what was read", std::to_string(right), std::to_string(found)));
  }

  [[nodiscard]] Status check_elements() {
    std::vector<double> chunk(std::min(chunk_bytes, array_bytes_) / sizeof(double));
    for (std::uint64_t first = 0; first < array_bytes_ / sizeof(double);) {
      const std::uint64_t count = std::min<std::uint64_t>(chunk.size(), array_bytes_ / sizeof(double) - first);
      if (Status copied = fetch(chunk.data(), *arrays_[0], first * sizeof(double), count * sizeof(double)); !copied)
        return copied;
      for (std::uint64_t i = 0; i < count; ++i) {
        const double right = stream_result(kind_, key_ + first + i, passes());
        if (std::bit_cast<std::uint64_t>(chunk[i]) != std::bit_cast<std::uint64_t>(right))
          return fail(wrong("element " + std::to_string(first + i), std::to_string(right), std::to_string(chunk[i])));
      }
      first += count;
    }
    return {};
  }

  StreamKind kind_;
  std::uint64_t key_;
  std::uint64_t array_bytes_;
  std::uint64_t sum_a_pass_ = 0;
  std::vector<MemoryPointer> arrays_;  // a, b, c; of read b and the sums
  Kernel kernel_;
};

}  // namespace ullage::accelerator
