// SPDX-License-Identifier: Apache-2.0
// Completed work per interval in constant memory: when the last interval is full, neighbours merge and the interval
// doubles.
#pragma once

#include "base/std.hpp"

namespace ullage {

class TimeSeries final {
 public:
  static constexpr std::size_t interval_count = 256;
  static constexpr std::int64_t smallest_interval_ns = 1 << 20;  // about 1 ms

  /// Forgets everything.
  void clear() noexcept;
  /// The first interval begins then. After clear(), before the first operation.
  void begin(std::int64_t start_ns) noexcept {
    start_ns_ = start_ns;
    last_ns_ = start_ns;
    end_of_current_ns_ = start_ns + interval_ns_;
  }
  void start(std::int64_t start_ns) noexcept {
    clear();
    begin(start_ns);
  }

  /// Adds operations that ended at `now_ns` (>= start, not before an earlier one).
  void add(std::int64_t now_ns, std::uint64_t bytes, std::uint64_t operations = 1) noexcept {
    while (now_ns >= end_of_current_ns_) [[unlikely]]
      advance();
    if (bytes > 0) bytes_[current_] += bytes;
    operations_[current_] += operations;
    last_ns_ = now_ns;
  }

  /// Merges neighbours until the interval is `interval_ns` (a power-of-two multiple of the present one).
  void widen_to(std::int64_t interval_ns) noexcept;

  /// Bytes and operations complete at `at_ns` (absolute), linear within an interval; the current one ends with its last
  /// operation.
  struct Total {
    std::uint64_t bytes = 0;
    std::uint64_t operations = 0;
  };
  [[nodiscard]] Total until(std::int64_t at_ns) const noexcept;

  /// Is the same as seen from a start `offset_ns` (>= 0) earlier. What was done in an interval is shared out between
  /// the two that it then lies in, in proportion to the time; every sum is kept. Ends with the last of
  /// `interval_count`.
  struct Placed {
    std::array<std::uint64_t, interval_count> bytes{};
    std::array<std::uint64_t, interval_count> operations{};
    std::size_t used = 0;
  };
  [[nodiscard]] Placed placed(std::int64_t offset_ns) const noexcept;
  /// The interval, this one or a wider one, at which placed() has room for everything.
  [[nodiscard]] std::int64_t interval_with_room(std::int64_t offset_ns) const noexcept;

  [[nodiscard]] std::int64_t interval_ns() const noexcept { return interval_ns_; }
  [[nodiscard]] std::size_t used() const noexcept { return current_ + 1; }
  [[nodiscard]] std::span<const std::uint64_t, interval_count> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const std::uint64_t, interval_count> operations() const noexcept { return operations_; }

 private:
  void advance() noexcept;
  void halve() noexcept;

  std::int64_t start_ns_ = 0;
  std::int64_t last_ns_ = 0;  // end of the last operation
  std::int64_t interval_ns_ = smallest_interval_ns;
  std::int64_t end_of_current_ns_ = smallest_interval_ns;
  std::size_t current_ = 0;
  std::array<std::uint64_t, interval_count> bytes_{};
  std::array<std::uint64_t, interval_count> operations_{};
};

}  // namespace ullage
