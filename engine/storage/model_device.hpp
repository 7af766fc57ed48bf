// SPDX-License-Identifier: Apache-2.0
// The arithmetic of a simulated device: how long operations take, and when each is done.
#pragma once

#include <cmath>

#include "base/permutation.hpp"
#include "base/std.hpp"

namespace ullage {

struct ModelParameters {
  double bandwidth = 1e9;  // B/s, of the whole device
  double latency_s = 0;
  double jitter = 0;  // 0 .. 1
  std::uint64_t seed = 1;
};

/// One rank's share of a device that `ranks` use at once: latency + bytes * ranks / bandwidth, varied evenly by
/// +-jitter.
class ModelDevice final {
 public:
  ModelDevice(const ModelParameters& parameters, int ranks, int rank, std::uint64_t run_key)
      : latency_ns_(parameters.latency_s * 1e9),
        ns_a_byte_(1e9 * ranks / parameters.bandwidth),
        jitter_(parameters.jitter),
        key_(mix64(mix64(parameters.seed ^ mix64(run_key)) + static_cast<std::uint64_t>(rank))) {}

  [[nodiscard]] double next_duration_ns(std::size_t length_bytes) noexcept {
    const double duration = latency_ns_ + ns_a_byte_ * static_cast<double>(length_bytes);
    if (jitter_ == 0) return duration;
    const double even = static_cast<double>(mix64(key_ + draws_++) >> 11U) * 0x1p-53;
    return duration * (1 + jitter_ * (2 * even - 1));
  }

 private:
  double latency_ns_;
  double ns_a_byte_;
  double jitter_;
  std::uint64_t key_;
  std::uint64_t draws_ = 0;
};

/// When the device is done with each operation: the next begins where the last was due, not where a late wake-up found
/// it, so lateness does not add up.
class ModelTimeline final {
 public:
  void restart(std::int64_t from_ns) noexcept {
    start_ns_ = from_ns;
    elapsed_ns_ = 0;
  }
  [[nodiscard]] std::int64_t after(double duration_ns) noexcept {
    elapsed_ns_ += duration_ns;
    return start_ns_ + std::llround(elapsed_ns_);
  }

 private:
  std::int64_t start_ns_ = 0;
  double elapsed_ns_ = 0;
};

}  // namespace ullage
