// SPDX-License-Identifier: Apache-2.0
#include "base/time_series.hpp"

#include <cmath>

namespace ullage {

void TimeSeries::clear() noexcept {
  interval_ns_ = smallest_interval_ns;
  current_ = 0;
  bytes_.fill(0);
  operations_.fill(0);
}

void TimeSeries::advance() noexcept {
  if (current_ + 1 == interval_count) {
    halve();
    return;
  }
  ++current_;
  end_of_current_ns_ += interval_ns_;
}

/// Two neighbours become one, the interval doubles; what is current keeps its place in time.
void TimeSeries::halve() noexcept {
  for (std::size_t i = 0; i < interval_count / 2; ++i) {
    bytes_[i] = bytes_[2 * i] + bytes_[2 * i + 1];
    operations_[i] = operations_[2 * i] + operations_[2 * i + 1];
  }
  for (std::size_t i = interval_count / 2; i < interval_count; ++i) {
    bytes_[i] = 0;
    operations_[i] = 0;
  }
  interval_ns_ *= 2;
  current_ /= 2;
  end_of_current_ns_ = start_ns_ + static_cast<std::int64_t>(current_ + 1) * interval_ns_;
}

void TimeSeries::widen_to(std::int64_t interval_ns) noexcept {
  while (interval_ns_ < interval_ns) halve();
}

TimeSeries::Total TimeSeries::until(std::int64_t at_ns) const noexcept {
  Total total;
  std::int64_t begin_ns = start_ns_;
  for (std::size_t i = 0; i <= current_ && begin_ns < at_ns; ++i, begin_ns += interval_ns_) {
    const std::int64_t length_ns = i == current_ ? std::max<std::int64_t>(last_ns_ - begin_ns, 1) : interval_ns_;
    const std::int64_t inside_ns = at_ns - begin_ns;
    if (inside_ns >= length_ns) {
      total.bytes += bytes_[i];
      total.operations += operations_[i];
      continue;
    }
    const double share = static_cast<double>(inside_ns) / static_cast<double>(length_ns);
    total.bytes += static_cast<std::uint64_t>(static_cast<double>(bytes_[i]) * share);
    total.operations += static_cast<std::uint64_t>(static_cast<double>(operations_[i]) * share);
  }
  return total;
}

std::int64_t TimeSeries::interval_with_room(std::int64_t offset_ns) const noexcept {
  const std::int64_t end_ns = offset_ns + static_cast<std::int64_t>(used()) * interval_ns_;
  std::int64_t interval_ns = interval_ns_;
  while (end_ns > interval_ns * static_cast<std::int64_t>(interval_count)) interval_ns *= 2;
  return interval_ns;
}

TimeSeries::Placed TimeSeries::placed(std::int64_t offset_ns) const noexcept {
  Placed placed;
  const auto whole = static_cast<std::size_t>(offset_ns / interval_ns_);
  const double later = static_cast<double>(offset_ns % interval_ns_) / static_cast<double>(interval_ns_);
  const auto put = [&](std::array<std::uint64_t, interval_count>& to, std::size_t at, std::uint64_t value) {
    const auto next = static_cast<std::uint64_t>(std::llround(static_cast<double>(value) * later));
    const std::size_t first = std::min(at, interval_count - 1);
    const std::size_t second = std::min(at + 1, interval_count - 1);
    to[first] += value - next;
    to[second] += next;
    if (next > 0) placed.used = std::max(placed.used, second + 1);
    placed.used = std::max(placed.used, first + 1);
  };
  for (std::size_t i = 0; i < used(); ++i) {
    put(placed.bytes, whole + i, bytes_[i]);
    put(placed.operations, whole + i, operations_[i]);
  }
  return placed;
}

}  // namespace ullage
