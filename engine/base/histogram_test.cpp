// SPDX-License-Identifier: Apache-2.0
#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ullage::histogram_test {

TEST(Histogram, EmptyIsAllZeros) {
  const auto histogram = std::make_unique<Histogram>();
  EXPECT_EQ(histogram->operations(), 0U);
  EXPECT_EQ(histogram->min_ns(), 0U);
  EXPECT_EQ(histogram->max_ns(), 0U);
  EXPECT_EQ(histogram->quantile_ns(0.5), 0U);
}

TEST(Histogram, SmallValuesAreExact) {
  for (std::uint64_t value = 0; value < 256; ++value) {
    const std::size_t bucket = Histogram::bucket_of(value);
    EXPECT_EQ(bucket, value);
    EXPECT_EQ(Histogram::midpoint_of(bucket), value);
  }
}

/// The formula of the record's `buckets`: e = i / 128 - 1, m = i % 128 + 128, lowest m << e.
TEST(Histogram, BucketsAreThoseOfTheContract) {
  for (std::size_t bucket = 256; bucket < Histogram::bucket_count; ++bucket) {
    const std::uint64_t e = bucket / 128 - 1;
    const std::uint64_t m = bucket % 128 + 128;
    EXPECT_EQ(Histogram::lowest_of(bucket), m << e);
    EXPECT_EQ(Histogram::bucket_of(m << e), bucket);
    EXPECT_EQ(Histogram::bucket_of(((m + 1) << e) - 1), bucket);
    EXPECT_EQ(Histogram::bucket_of((m << e) - 1), bucket - 1);
  }
}

TEST(Histogram, AGroupCountsAsItsMeanAndKeepsItsSum) {
  const auto histogram = std::make_unique<Histogram>();
  histogram->add_group(107, 10);
  histogram->add_group(30, 1);
  EXPECT_EQ(histogram->operations(), 11U);
  EXPECT_EQ(histogram->sum_ns(), 137U);
  EXPECT_EQ(histogram->counts()[10], 10U);
  EXPECT_EQ(histogram->min_ns(), 10U);
  EXPECT_EQ(histogram->max_ns(), 30U);
}

TEST(Histogram, QuantilesAreNearestRanks) {
  auto histogram = std::make_unique<Histogram>();
  for (int value = 1; value <= 100; ++value) histogram->add(value);
  EXPECT_EQ(histogram->quantile_ns(0), 1U);
  EXPECT_EQ(histogram->quantile_ns(0.07), 7U);
  EXPECT_EQ(histogram->quantile_ns(0.5), 50U);
  EXPECT_EQ(histogram->quantile_ns(0.501), 51U);
  EXPECT_EQ(histogram->quantile_ns(0.99), 99U);
  EXPECT_EQ(histogram->quantile_ns(0.999), 100U);
  EXPECT_EQ(histogram->quantile_ns(1), 100U);
}

TEST(Histogram, QuantilesStayBetweenTheExtremes) {
  auto histogram = std::make_unique<Histogram>();
  histogram->add(1'000'001);  // the bucket's midpoint is elsewhere
  EXPECT_EQ(histogram->quantile_ns(0.5), 1'000'001U);
}

TEST(Histogram, TakesWhatNoClockShouldGive) {
  auto histogram = std::make_unique<Histogram>();
  histogram->add(-5);
  histogram->add(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(histogram->operations(), 2U);
  EXPECT_EQ(histogram->min_ns(), 0U);
  EXPECT_EQ(histogram->max_ns(), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  EXPECT_EQ(histogram->counts()[0], 1U);
  EXPECT_EQ(histogram->counts()[Histogram::bucket_count - 1], 1U);
}

TEST(Histogram, ClearForgets) {
  auto histogram = std::make_unique<Histogram>();
  histogram->add(77);
  histogram->clear();
  EXPECT_EQ(histogram->operations(), 0U);
  EXPECT_EQ(histogram->sum_ns(), 0U);
  EXPECT_EQ(histogram->max_ns(), 0U);
  histogram->add(5);
  EXPECT_EQ(histogram->min_ns(), 5U);
}

TEST(Histogram, AssignIsWhatAReductionGives) {
  auto source = std::make_unique<Histogram>();
  for (const std::int64_t value : {3, 1000, 123'456'789}) source->add(value);
  auto copy = std::make_unique<Histogram>();
  copy->add(1);
  copy->assign(source->counts(), source->sum_ns(), source->min_ns(), source->max_ns());
  EXPECT_EQ(copy->operations(), 3U);
  EXPECT_EQ(copy->sum_ns(), source->sum_ns());
  EXPECT_EQ(copy->min_ns(), 3U);
  EXPECT_EQ(copy->quantile_ns(1), 123'456'789U);
}

}  // namespace ullage::histogram_test
