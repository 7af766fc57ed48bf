// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "base/histogram.hpp"

namespace ullage::histogram_property_test {

using Values = std::vector<std::int64_t>;

/// Latencies of all magnitudes up to the largest that a bucket holds.
rc::Gen<std::int64_t> latency() {
  return rc::gen::mapcat(rc::gen::inRange(0, Histogram::largest_bits),
                         [](int bits) { return rc::gen::inRange<std::int64_t>(0, std::int64_t{2} << bits); });
}

rc::Gen<Values> latencies() { return rc::gen::nonEmpty(rc::gen::container<Values>(latency())); }

std::unique_ptr<Histogram> histogram_of(const Values& values) {
  auto histogram = std::make_unique<Histogram>();
  for (const std::int64_t value : values) histogram->add(value);
  return histogram;
}

RC_GTEST_PROP(HistogramProperty, MidpointIsAtMost1In256Off, ()) {
  const auto value = static_cast<std::uint64_t>(*latency());
  const std::uint64_t midpoint = Histogram::midpoint_of(Histogram::bucket_of(value));
  const std::uint64_t error = midpoint > value ? midpoint - value : value - midpoint;
  RC_ASSERT(error * 256 <= value);
}

RC_GTEST_PROP(HistogramProperty, QuantileIsThatOfTheSortedValues, ()) {
  Values values = *latencies();
  const double quantile = *rc::gen::inRange(0, 1001) / 1000.0;
  const auto histogram = histogram_of(values);
  std::ranges::sort(values);
  const double wanted = std::ceil(quantile * static_cast<double>(values.size()) * (1 - 1e-12));
  const double exact = static_cast<double>(values[static_cast<std::size_t>(std::max(wanted, 1.0)) - 1]);
  RC_ASSERT(std::abs(static_cast<double>(histogram->quantile_ns(quantile)) - exact) * 256 <= exact);
}

RC_GTEST_PROP(HistogramProperty, MergingIsAddingAll, ()) {
  const Values first = *latencies();
  const Values second = *latencies();
  Values both = first;
  both.insert(both.end(), second.begin(), second.end());
  const auto merged = histogram_of(first);
  merged->merge(*histogram_of(second));
  const auto together = histogram_of(both);
  RC_ASSERT(std::ranges::equal(merged->counts(), together->counts()));
  RC_ASSERT(merged->sum_ns() == together->sum_ns());
  RC_ASSERT(merged->min_ns() == together->min_ns());
  RC_ASSERT(merged->max_ns() == together->max_ns());
  RC_ASSERT(merged->operations() == both.size());
}

}  // namespace ullage::histogram_property_test
