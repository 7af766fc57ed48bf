// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

class MpiStepPhase : public OneRepetition {};

TEST_F(MpiStepPhase, TimesAreApartAndAddUp) {
  const Json records = run({{"compute_s", 0.001}, {"steps", number(12)}});
  if (!world().root()) return;
  for (const Json& record : records) {
    const Json& parts = record["latency_parts"];
    for (const char* part : {"compute", "open", "transfer", "close", "exposed"})
      EXPECT_EQ(parts[part]["operations"], 12 * ranks()) << part;
    EXPECT_GE(parts["compute"]["sum_ns"], 12'000'000 * ranks());
    const std::uint64_t whole = record["latency"]["sum_ns"];
    EXPECT_EQ(parts["compute"]["sum_ns"].get<std::uint64_t>() + parts["exposed"]["sum_ns"].get<std::uint64_t>(), whole);
    EXPECT_NEAR(record["gauges"]["compute_s"]["sum"].get<double>(), parts["compute"]["sum_ns"].get<double>() * 1e-9,
                1e-6);
    std::uint64_t computed = 0;
    for (const Json& interval : record["facts"]["timeline"]["compute_ns"]) computed += interval.get<std::uint64_t>();
    EXPECT_EQ(computed, parts["compute"]["sum_ns"]) << "of all ranks";
  }
}

/// The forward part contains the sync at its end, the adjoint part an opening and a read.
TEST_F(MpiStepPhase, TurnRoundIsFromTheLastComputationToTheFirstStateAtHand) {
  for (const char* layout : {"dir-per-rank", "log"}) {
    const Json records = run({{"compute_s", 0.001}, {"sync", words("close")}, {"layout", words(layout)}});
    if (!world().root()) continue;
    EXPECT_FALSE(records[0]["gauges"].contains("turn_round_s"));
    const Json& found = records[1]["gauges"]["turn_round_s"];
    EXPECT_GT(found["least"].get<double>(), 0.0) << layout;
    const auto whole_ns = records[0]["elapsed_ns"].get<double>() + records[1]["elapsed_ns"].get<double>();
    EXPECT_LE(found["most"].get<double>(), whole_ns * 1e-9 - 23 * 0.001) << "computations are in neither part";
  }
}

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

TEST(StepAccount, PartsAreNumberedAsTheyAreNamed) {
  StepAccount account({StepPart::compute, StepPart::transfer, StepPart::exposed}, 10);
  EXPECT_EQ(account.part_names(), (std::vector<std::string>{"compute", "transfer", "exposed"}));
  test::RunningMeter meter;
  meter->use_parts(3);
  account.add(*meter, StepPart::compute, 5);
  account.add(*meter, StepPart::open, 7);
  account.add(*meter, {.open_ns = 1, .transfer_ns = 2, .sync_ns = 3, .close_ns = 4, .remove_ns = 5});
  account.step_done(*meter, 0, 100, 70);
  EXPECT_EQ(meter->parts()[0].sum_ns(), 5U);
  EXPECT_EQ(meter->parts()[1].sum_ns(), 2U);
  EXPECT_EQ(meter->parts()[2].sum_ns(), 30U);
  EXPECT_DOUBLE_EQ(account.compute_s(), 70e-9);
  EXPECT_DOUBLE_EQ(account.exposed_s(), 30e-9);
}

TEST(StepAccount, TimelineHasEveryStepInAnInterval) {
  for (const std::uint64_t steps : {1U, 128U, 129U, 1000U}) {
    StepAccount account({StepPart::exposed}, steps);
    test::RunningMeter meter;
    meter->use_parts(1);
    for (std::uint64_t step = 0; step < steps; ++step) account.step_done(*meter, step, 10, 4);
    const Json timeline = account.timeline();
    EXPECT_EQ(timeline["steps"], steps);
    EXPECT_LE(timeline["compute_ns"].size(), 128U);
    std::uint64_t computed = 0, exposed = 0;
    for (const Json& interval : timeline["compute_ns"]) computed += interval.get<std::uint64_t>();
    for (const Json& interval : timeline["exposed_ns"]) exposed += interval.get<std::uint64_t>();
    EXPECT_EQ(computed, 4 * steps);
    EXPECT_EQ(exposed, 6 * steps);
  }
}

}  // namespace
}  // namespace ullage::stepfile_test
