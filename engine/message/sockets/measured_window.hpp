// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/meter.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage {

/// The time that counts, on this rank's clock: what the tasks did in it, and what that cost its process.
class MeasuredWindow final {
 public:
  /// `block_bytes`: of a message. The tasks outlive it; those of a rank that measures nothing are none.
  MeasuredWindow(std::span<const std::unique_ptr<StreamTask>> tasks, std::uint64_t block_bytes)
      : tasks_(tasks), block_bytes_(block_bytes) {}

  void begin();
  /// Counts what was done since the call before, as operations of the meter without latencies.
  void look(Meter& meter);
  void end(Meter& meter);
  /// Adds what tasks that count nothing outside the window did between its end and their own.
  void add_rest(Meter& meter) { look(meter); }

  [[nodiscard]] double seconds() const { return static_cast<double>(end_ns_ - begin_ns_) * 1e-9; }
  [[nodiscard]] double cpu_seconds() const { return static_cast<double>(cpu_end_ns_ - cpu_begin_ns_) * 1e-9; }
  [[nodiscard]] std::uint64_t bytes() const { return end_bytes_ - begin_bytes_; }

 private:
  [[nodiscard]] std::uint64_t sum() const;

  std::span<const std::unique_ptr<StreamTask>> tasks_;
  std::uint64_t block_bytes_;
  std::uint64_t begin_bytes_ = 0;
  std::uint64_t end_bytes_ = 0;
  std::uint64_t told_messages_ = 0;
  std::int64_t begin_ns_ = 0;
  std::int64_t end_ns_ = 0;
  std::int64_t cpu_begin_ns_ = 0;
  std::int64_t cpu_end_ns_ = 0;
};

}  // namespace ullage
