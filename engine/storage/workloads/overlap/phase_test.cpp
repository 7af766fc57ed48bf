// SPDX-License-Identifier: Apache-2.0
// What phases do on files is in overlap_test.cpp.
#include "storage/workloads/overlap/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/overlap/test_support.hpp"

namespace ullage::overlap_phase_test {
namespace {

class OverlapPhase : public overlap_test::OneRepetition {};

TEST_F(OverlapPhase, SaysWhatItIsAndMovesNothingBeforeItIsAsked) {
  const auto workload = make({{"cache", std::string("drop")}});
  ASSERT_EQ(workload->phases(), 2U);
  const auto write = workload->phase(0);
  EXPECT_EQ(write->info().name, "write");
  EXPECT_EQ(write->info().access, Access::write);
  EXPECT_TRUE(write->info().collective) << "ranks begin each stretch together";
  EXPECT_EQ(write->info().bytes_at_once, 3U * 2 * 4096);
  EXPECT_EQ(write->operations(), 2U + 4 * 2);
  EXPECT_TRUE(write->wants_sync());
  EXPECT_EQ(write->gauges().at("io_s"), 0);
  const auto read = workload->phase(1);
  EXPECT_EQ(read->info().cache_control, "drop");
  EXPECT_EQ(read->info().data_of, "own");
  EXPECT_FALSE(read->wants_sync());
}

TEST_F(OverlapPhase, WithoutAReadThereIsOnePhase) { EXPECT_EQ(make({{"read", false}})->phases(), 1U); }

}  // namespace
}  // namespace ullage::overlap_phase_test
