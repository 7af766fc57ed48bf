// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/time_series.hpp"

namespace ullage::time_series_property_test {

constexpr std::int64_t start = 1'000'000;

struct Work {
  std::int64_t at_ns = 0;
  std::uint64_t bytes = 0;
};

/// Operations whose distances run from a nanosecond to hours.
std::vector<Work> some_work() {
  const auto gap = rc::gen::mapcat(rc::gen::inRange(0, 40),
                                   [](int bits) { return rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << bits); });
  const auto gaps = *rc::gen::container<std::vector<std::int64_t>>(gap);
  std::vector<Work> work;
  std::int64_t at_ns = start;
  for (const std::int64_t step : gaps) work.push_back({at_ns += step, *rc::gen::inRange<std::uint64_t>(0, 1 << 24)});
  return work;
}

TimeSeries series_of(const std::vector<Work>& work) {
  TimeSeries series;
  series.start(start);
  for (const Work& w : work) series.add(w.at_ns, w.bytes);
  return series;
}

std::uint64_t sum(std::span<const std::uint64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

std::uint64_t bytes_of(const std::vector<Work>& work) {
  return std::accumulate(work.begin(), work.end(), std::uint64_t{0},
                         [](std::uint64_t total, const Work& w) { return total + w.bytes; });
}

RC_GTEST_PROP(TimeSeriesProperty, NothingIsLostInWidening, ()) {
  const auto work = some_work();
  TimeSeries series = series_of(work);
  RC_ASSERT(sum(series.bytes()) == bytes_of(work));
  RC_ASSERT(sum(series.operations()) == work.size());
  const std::int64_t wider = series.interval_ns() << *rc::gen::inRange(0, 12);
  series.widen_to(wider);
  RC_ASSERT(series.interval_ns() == wider);
  RC_ASSERT(sum(series.bytes()) == bytes_of(work));
  RC_ASSERT(sum(series.operations()) == work.size());
}

RC_GTEST_PROP(TimeSeriesProperty, EveryIntervalHoldsWhatEndedInIt, ()) {
  const auto work = some_work();
  const TimeSeries series = series_of(work);
  for (std::size_t i = 0; i < TimeSeries::interval_count; ++i) {
    const std::int64_t from = start + static_cast<std::int64_t>(i) * series.interval_ns();
    std::uint64_t bytes = 0;
    for (const Work& w : work)
      if (w.at_ns >= from && w.at_ns < from + series.interval_ns()) bytes += w.bytes;
    RC_ASSERT(series.bytes()[i] == bytes);
    RC_ASSERT(i < series.used() || bytes == 0);
  }
}

RC_GTEST_PROP(TimeSeriesProperty, UntilNeverFallsAndEndsWithEverything, ()) {
  const auto work = some_work();
  const TimeSeries series = series_of(work);
  const std::int64_t last = work.empty() ? start : work.back().at_ns;
  auto instants = *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange(start, last + 1));
  std::ranges::sort(instants);
  std::uint64_t before = 0;
  for (const std::int64_t at : instants) {
    const std::uint64_t now = series.until(at).bytes;
    RC_ASSERT(now >= before);
    before = now;
  }
  RC_ASSERT(series.until(last + 1).bytes == bytes_of(work));
  RC_ASSERT(series.until(last + 1).operations == work.size());
}

}  // namespace ullage::time_series_property_test
