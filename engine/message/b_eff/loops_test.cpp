// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/loops.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::b_eff_loops_test {
namespace {

BEffLoops after_probe(double budget_s, double probe_s) {
  BEffLoops loops(budget_s);
  loops.probed(probe_s);
  return loops;
}

TEST(BEffLoops, ProbeIsOfTenLoops) { EXPECT_EQ(BEffLoops(0.5).loops(), 10U); }

TEST(BEffLoops, FirstLengthHasHalfOfWhatTheProbeAllows) {
  EXPECT_EQ(after_probe(0.5, 0.001).loops(), 2500U);
  EXPECT_EQ(after_probe(0.5, 0.003).loops(), 833U);  // 10 * 0.5 / 0.003 = 1666
  EXPECT_EQ(after_probe(0.5, 100).loops(), 5U);      // at least ten are allowed
  EXPECT_GT(after_probe(0.5, 0).loops(), 1000U);
}

TEST(BEffLoops, HalfTheBudgetUsedMeansAsManyAtTwiceTheLength) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(0.249);  // with the probe's it is 0.25 s
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 2500U);
}

TEST(BEffLoops, FullBudgetUsedMeansHalfAtTwiceTheLength) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(0.3);
  loops.took(0.3);
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 1250U);
  loops.took(0.7);
  loops.lengthen(2.8284);
  EXPECT_EQ(loops.loops(), 441U);
}

TEST(BEffLoops, NeverMoreThanTheProbeAllowedNorLessThanOne) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(1e-6);
  loops.lengthen(2);
  loops.took(1e-6);
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 5000U);
  for (int i = 0; i < 20; ++i) {
    loops.took(3);
    loops.lengthen(2);
  }
  EXPECT_EQ(loops.loops(), 1U);
}

TEST(BEffLoops, ForgetsTheTimesOfTheLengthBefore) {
  BEffLoops loops = after_probe(0.5, 0.001);
  loops.took(0.6);
  loops.lengthen(2);
  loops.took(0.25);
  EXPECT_DOUBLE_EQ(loops.iteration_s(), 0.25 / 1250);
  loops.lengthen(2);
  EXPECT_EQ(loops.loops(), 1250U);
}

std::vector<BEffLoops> three_methods(double iteration_s) {
  BEffLoops loops = after_probe(0.5, 0.25);
  loops.lengthen(1);
  loops.took(iteration_s * static_cast<double>(loops.loops()));
  return std::vector<BEffLoops>(3, loops);
}

/// Four times (2 + 4) iterations by three methods in three repetitions: 216 iterations of all patterns.
TEST(BEffLoops, LastTwoTakeTooLongAboveAMinute) {
  EXPECT_FALSE(last_two_take_too_long(three_methods(59.0 / 216), 2, 0.5));
  EXPECT_TRUE(last_two_take_too_long(three_methods(61.0 / 216), 2, 0.5));
  EXPECT_TRUE(last_two_take_too_long(three_methods(59.0 / 216), 2, 0.05));
  EXPECT_TRUE(last_two_take_too_long(three_methods(59.0 / 216), 2.8284, 0.5));
}

}  // namespace
}  // namespace ullage::b_eff_loops_test
