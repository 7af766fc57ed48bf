// SPDX-License-Identifier: Apache-2.0
#include "base/time_series.hpp"

#include <algorithm>

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

}  // namespace ullage
