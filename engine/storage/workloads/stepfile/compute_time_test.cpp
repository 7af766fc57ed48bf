// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/compute_time.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::compute_time_test {
namespace {

TEST(ComputeTime, IsTheStepWithoutVariation) {
  EXPECT_EQ(ComputeTime(0.001, 0, 0, 2, 4).at_ns(7, 0), 1'000'000);
  EXPECT_TRUE(ComputeTime(0, 0.5, 0.5, 2, 4).none());
  EXPECT_EQ(ComputeTime(0, 0.5, 0.5, 2, 4).at_ns(7, 0), 0);
}

TEST(ComputeTime, ImbalanceRisesWithTheRank) {
  EXPECT_EQ(ComputeTime(0.001, 0, 0.5, 0, 3).at_ns(0, 0), 1'000'000);
  EXPECT_EQ(ComputeTime(0.001, 0, 0.5, 1, 3).at_ns(0, 0), 1'250'000);
  EXPECT_EQ(ComputeTime(0.001, 0, 0.5, 2, 3).at_ns(0, 0), 1'500'000);
  EXPECT_EQ(ComputeTime(0.001, 0, 0.5, 0, 1).at_ns(0, 0), 1'000'000) << "one rank alone";
}

TEST(ComputeTime, JitterStaysInItsBoundsAndKeepsTheMean) {
  const ComputeTime time(0.001, 0.2, 0, 1, 4);
  double sum = 0;
  std::set<std::int64_t> seen;
  for (std::uint64_t step = 0; step < 1000; ++step) {
    const std::int64_t took = time.at_ns(step, 0);
    EXPECT_GE(took, 800'000);
    EXPECT_LE(took, 1'200'000);
    EXPECT_EQ(took, time.at_ns(step, 0)) << "the same each time it is asked for";
    seen.insert(took);
    sum += static_cast<double>(took);
  }
  EXPECT_GT(seen.size(), 900U);
  EXPECT_NEAR(sum / 1000, 1e6, 2e4) << "5 standard errors of a uniform draw are 18257";
  EXPECT_NE(time.at_ns(3, 0), time.at_ns(3, 1));
  EXPECT_NE(time.at_ns(3, 0), ComputeTime(0.001, 0.2, 0, 2, 4).at_ns(3, 0));
}

}  // namespace
}  // namespace ullage::compute_time_test
