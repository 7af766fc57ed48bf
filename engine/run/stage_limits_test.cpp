// SPDX-License-Identifier: Apache-2.0
#include "run/stage_limits.hpp"

#include <gtest/gtest.h>

namespace ullage::stage_limits_test {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::uint64_t gb = 1'000'000'000;

TEST(StageLimits, SmallStagesHaveTheLeastLimit) {
  EXPECT_EQ(stage_limit_ns(6 * second, 0), 6 * second);
  EXPECT_EQ(stage_limit_ns(6 * second, 60'000'000), 6 * second);
}

TEST(StageLimits, LargeOnesHaveTheTimeOfASlowTarget) {
  EXPECT_EQ(stage_limit_ns(6 * second, gb), 100 * second);
  EXPECT_GT(stage_limit_ns(6 * second, ~std::uint64_t{0}), 0);
}

TEST(StageLimits, AFlushMovesNoMoreThanMemoryHolds) {
  EXPECT_EQ(flush_limit_ns(120 * second, 1000 * gb, 1, 16 * gb), 1600 * second);
  EXPECT_EQ(flush_limit_ns(120 * second, gb, 4, 16 * gb), 400 * second);
  EXPECT_EQ(flush_limit_ns(120 * second, ~std::uint64_t{0}, 4, 16 * gb), 1600 * second);
  EXPECT_EQ(flush_limit_ns(120 * second, 2 * gb, 1, 0), 200 * second);
}

TEST(StageLimits, MemoryIsFilledFasterThanATarget) {
  EXPECT_EQ(filling_limit_ns(120 * second, gb), 120 * second);
  EXPECT_EQ(filling_limit_ns(120 * second, 500 * gb), 10'000 * second);
}

TEST(StageLimits, ThisNodeHasMemory) { EXPECT_GT(physical_memory_bytes(), 1U << 20U); }

}  // namespace
}  // namespace ullage::stage_limits_test
