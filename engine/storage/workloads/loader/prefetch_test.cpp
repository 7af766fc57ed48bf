// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/prefetch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <vector>

namespace ullage::prefetch_test {
namespace {

TEST(Prefetch, EverySampleIsReadOnceAndNoneBeyondTheWindow) {
  constexpr std::uint64_t samples = 503;
  constexpr std::uint64_t batch = 10;
  for (const std::uint64_t window : {10U, 25U, 100U}) {
    std::vector<std::atomic<int>> reads(samples);
    std::atomic<std::uint64_t> given_back = 0;
    std::atomic<bool> too_far = false;
    Prefetch prefetch({.threads = 4, .samples = samples, .batch = batch, .window = window},
                      [&](std::size_t thread, std::uint64_t index) -> Result<SampleTimes> {
                        if (thread >= 4 || index >= given_back + window) too_far = true;
                        ++reads[index];
                        return SampleTimes{.bytes = index};
                      });
    EXPECT_EQ(prefetch.steps(), 51U);
    EXPECT_EQ(prefetch.size_of(50), 3U);
    prefetch.open();
    std::vector<SampleTimes> times;
    std::int64_t last_ns = 0;
    for (std::uint64_t step = 0; step < prefetch.steps(); ++step) {
      const auto ready = prefetch.await(step);
      ASSERT_TRUE(ready.has_value());
      EXPECT_GT(*ready, 0);
      last_ns = *ready;
      given_back += prefetch.size_of(step);  // may be seen early, never late
      prefetch.take(step, times);
      ASSERT_EQ(times.size(), prefetch.size_of(step));
      for (std::uint64_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i].bytes, step * batch + i);
    }
    EXPECT_GT(last_ns, 0);
    EXPECT_FALSE(too_far);
    for (const auto& count : reads) EXPECT_EQ(count, 1);
  }
}

TEST(Prefetch, ReadsNothingBeforeItIsOpen) {
  std::atomic<int> reads = 0;
  {
    Prefetch prefetch({.threads = 2, .samples = 10, .batch = 1, .window = 4},
                      [&](std::size_t, std::uint64_t) -> Result<SampleTimes> {
                        ++reads;
                        return SampleTimes{};
                      });
  }
  EXPECT_EQ(reads, 0);
}

TEST(Prefetch, TheFirstErrorEndsIt) {
  Prefetch prefetch({.threads = 3, .samples = 100, .batch = 5, .window = 20},
                    [](std::size_t, std::uint64_t index) -> Result<SampleTimes> {
                      if (index == 12) return fail(errno_error(EIO, "read", "sample"));
                      return SampleTimes{};
                    });
  prefetch.open();
  std::vector<SampleTimes> times;
  Result<std::int64_t> ready = 0;
  std::uint64_t step = 0;
  for (; step < prefetch.steps(); ++step) {
    ready = prefetch.await(step);
    if (!ready) break;
    prefetch.take(step, times);
  }
  ASSERT_FALSE(ready.has_value());
  EXPECT_EQ(ready.error().errno_value, EIO);
  EXPECT_LE(step, 2U);
}

}  // namespace
}  // namespace ullage::prefetch_test
