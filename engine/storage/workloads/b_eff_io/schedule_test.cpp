// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/schedule.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ullage::b_eff_io_schedule_test {
namespace {

constexpr std::uint64_t M = 1 << 20;
constexpr std::uint64_t G = 1 << 30;

TEST(BEffIoRule, PredictedWantsTheNextRepetitionToEndInTime) {
  EXPECT_TRUE(b_eff_io_goes_on(BEffIoRule::predicted, 1, 1, 2)) << "twice 1 s is 2 s";
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::predicted, 1.01, 1, 2));
  EXPECT_TRUE(b_eff_io_goes_on(BEffIoRule::predicted, 9, 9, 10));
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::predicted, 9.1, 9, 10));
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::predicted, 0.1, 1, 0));
}

TEST(BEffIoRule, ElapsedAsksForNoMoreThanTimeLeft) {
  EXPECT_TRUE(b_eff_io_goes_on(BEffIoRule::elapsed, 1.99, 1, 2));
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::elapsed, 2, 1, 2));
}

TEST(BEffIoRoom, PartsGoByUnits) {
  const auto calls = [](std::size_t number, std::uint64_t ranks) {
    return b_eff_io_most_calls(b_eff_io_patterns()[number], 2 * M, ranks, 44 * M);
  };
  EXPECT_EQ(calls(0, 1), 1U) << "done once";
  EXPECT_EQ(calls(1, 1), 4U) << "4 of 22 units of 44 MiB in calls of 2 MiB";
  EXPECT_EQ(calls(1, 2), 2U);
  EXPECT_EQ(calls(1, 100), 1U) << "one at least";
  EXPECT_EQ(calls(5, 1), 4U);
}

TEST(BEffIoRoom, NeededIsWhatCanBeWritten) {
  EXPECT_EQ(b_eff_io_needed_bytes(BEffIoType::scatter, 2 * M, 1, 44 * M), 45 * M) << "and the first call";
  EXPECT_GE(b_eff_io_needed_bytes(BEffIoType::scatter, G, 4, 44 * M), 4 * G) << "one call of each rank at least";
  EXPECT_EQ(b_eff_io_needed_bytes(BEffIoType::segmented, 2 * M, 2, 40 * M), 40 * M + 2 * 2 * M);
  for (const auto& [type, word] : b_eff_io_types()) {
    std::uint64_t written = 0;
    for (const auto& pattern : b_eff_io_patterns(type))
      written += b_eff_io_most_calls(pattern, 16 * M, 7, G) * 7 * pattern.call_bytes(16 * M);
    EXPECT_LE(written, b_eff_io_needed_bytes(type, 16 * M, 7, G)) << word;
  }
}

TEST(BEffIoCheckTimes, ComeAboutTwentyTimesAnAllowance) {
  const BEffIoCheckTimes looks(2);
  std::uint64_t done = BEffIoCheckTimes::first();
  int count = 0;
  constexpr double a_call_s = 1e-5;
  while (!looks.is_over(static_cast<double>(done) * a_call_s)) {
    done = looks.next(done, static_cast<double>(done) * a_call_s);
    ++count;
  }
  EXPECT_LT(count, 40);
  EXPECT_GT(count, 20);
  EXPECT_LT(static_cast<double>(done) * a_call_s, 2.2);
}

TEST(BEffIoCheckTimes, AreAtEveryCallWhereCallsAreSlow) {
  const BEffIoCheckTimes looks(2);
  EXPECT_EQ(looks.next(1, 3), 2U);
  EXPECT_EQ(looks.next(10, 30), 11U);
  EXPECT_TRUE(looks.is_over(2));
  EXPECT_EQ(looks.next(8, 0), 16U) << "no more than doubled";
}

TEST(BEffIoCheckTimes, WithoutAnAllowanceTheyOnlyListenForRequestsToStop) {
  const BEffIoCheckTimes looks(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(looks.is_over(1e9));
  EXPECT_EQ(looks.next(1000, 10), 1050U) << "each half second";
  const BEffIoCheckTimes none_left(-1);
  EXPECT_TRUE(none_left.is_over(0));
  EXPECT_EQ(none_left.next(5, 1), 6U);
}

}  // namespace
}  // namespace ullage::b_eff_io_schedule_test
