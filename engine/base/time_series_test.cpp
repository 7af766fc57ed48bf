// SPDX-License-Identifier: Apache-2.0
#include "base/time_series.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace ullage::time_series_test {

constexpr std::int64_t interval = TimeSeries::smallest_interval_ns;
constexpr std::int64_t start = 5'000'000'000'000;

std::uint64_t sum(std::span<const std::uint64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

TEST(TimeSeries, PutsWorkWhereItEnded) {
  TimeSeries series;
  series.start(start);
  series.add(start, 1);
  series.add(start + interval - 1, 2);
  series.add(start + interval, 4);
  series.add(start + 3 * interval + 5, 8);
  EXPECT_EQ(series.used(), 4U);
  EXPECT_EQ(series.bytes()[0], 3U);
  EXPECT_EQ(series.bytes()[1], 4U);
  EXPECT_EQ(series.bytes()[2], 0U);
  EXPECT_EQ(series.bytes()[3], 8U);
  EXPECT_EQ(series.operations()[0], 2U);
}

TEST(TimeSeries, WidensWhenItIsFull) {
  TimeSeries series;
  series.start(start);
  for (std::size_t i = 0; i < TimeSeries::interval_count; ++i)
    series.add(start + static_cast<std::int64_t>(i) * interval, 1);
  EXPECT_EQ(series.interval_ns(), interval);
  series.add(start + static_cast<std::int64_t>(TimeSeries::interval_count) * interval, 1);
  EXPECT_EQ(series.interval_ns(), 2 * interval);
  EXPECT_EQ(series.used(), TimeSeries::interval_count / 2 + 1);
  EXPECT_EQ(series.bytes()[0], 2U);
  EXPECT_EQ(series.bytes()[TimeSeries::interval_count / 2], 1U);
}

TEST(TimeSeries, ALongSilenceCostsNoMemory) {
  TimeSeries series;
  series.start(start);
  series.add(start + 1, 10);
  series.add(start + std::int64_t{86'400} * 1'000'000'000, 20);
  EXPECT_EQ(sum(series.bytes()), 30U);
  EXPECT_LE(series.used(), TimeSeries::interval_count);
}

TEST(TimeSeries, StartForgets) {
  TimeSeries series;
  series.start(start);
  series.add(start + 1000 * interval, 7);
  series.start(start + 1);
  EXPECT_EQ(series.interval_ns(), interval);
  EXPECT_EQ(series.used(), 1U);
  EXPECT_EQ(sum(series.bytes()), 0U);
}

TEST(TimeSeries, UntilIsLinearWithinAnInterval) {
  TimeSeries series;
  series.start(start);
  series.add(start + interval / 3, 1000);
  series.add(start + interval + 1, 64);
  EXPECT_EQ(series.until(start - 1).bytes, 0U);
  EXPECT_EQ(series.until(start).bytes, 0U);
  EXPECT_EQ(series.until(start + interval / 2).bytes, 500U);
  EXPECT_EQ(series.until(start + interval).bytes, 1000U);
  EXPECT_EQ(series.until(start + interval).operations, 1U);
}

/// A rank that is done before the others has done everything by then, however short its last interval was.
TEST(TimeSeries, EverythingIsDoneAtTheLastOperation) {
  TimeSeries series;
  series.start(start);
  series.add(start + 100, 10);
  series.add(start + 200, 10);
  EXPECT_EQ(series.until(start + 200).bytes, 20U);
  EXPECT_EQ(series.until(start + 100).bytes, 10U);
  series.add(start + 5 * interval + 7, 1);
  EXPECT_EQ(series.until(start + 5 * interval + 7).bytes, 21U);
  EXPECT_EQ(series.until(start + 5 * interval + 7).operations, 3U);
}

TEST(TimeSeries, IsPlacedOnAnAxisThatBeganEarlier) {
  TimeSeries series;
  series.start(0);
  series.add(interval / 2, 100, 1);
  series.add(interval + interval / 2, 40, 2);
  const auto same = series.placed(0);
  EXPECT_EQ(same.used, 2U);
  EXPECT_EQ(same.bytes[0], 100U);
  EXPECT_EQ(same.operations[1], 2U);
  const auto later = series.placed(3 * interval);
  EXPECT_EQ(later.used, 5U);
  EXPECT_EQ(later.bytes[3], 100U);
  EXPECT_EQ(later.bytes[4], 40U);
  const auto between = series.placed(3 * interval + interval / 4);
  EXPECT_EQ(between.bytes[3], 75U);
  EXPECT_EQ(between.bytes[4], 25U + 30U);
  EXPECT_EQ(between.bytes[5], 10U);
  EXPECT_EQ(between.used, 6U);
  EXPECT_EQ(between.operations[3] + between.operations[4] + between.operations[5], 3U);
}

TEST(TimeSeries, WidensWhereTheLaterPlaceNeedsIt) {
  TimeSeries series;
  series.start(0);
  series.add(1, 7, 1);
  EXPECT_EQ(series.interval_with_room(0), interval);
  EXPECT_EQ(series.interval_with_room(255 * interval), interval);
  EXPECT_EQ(series.interval_with_room(256 * interval), 2 * interval);
  series.widen_to(series.interval_with_room(1000 * interval));
  const auto placed = series.placed(1000 * interval);
  std::uint64_t bytes = 0;
  for (const auto value : placed.bytes) bytes += value;
  EXPECT_EQ(bytes, 7U);
  EXPECT_LE(placed.used, TimeSeries::interval_count);
}

}  // namespace ullage::time_series_test
