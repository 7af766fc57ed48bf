// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "noise/fixed_work.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::fixed_work_test {
namespace {

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("fixed-work", given, record); }

TEST(FixedWork, RunsAsALaunchMakesIt) {
  Json record;
  ASSERT_EQ(run({{"quanta", std::int64_t{20}}, {"watch_s", 0.001}, {"warm_up_s", 0.0}}, record), PhaseStatus::ok);
  EXPECT_EQ(record["phase"], "fixed-work");
  EXPECT_EQ(record["operations"], 20);
}

TEST(FixedWork, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("fixed-work");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  const auto values = complete(entry->description.parameters, {{"quanta", std::int64_t{77}}, {"quantum_s", 1e-3}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(bind_parameters<FixedWorkParameters>(*values).quanta, 77U);
  EXPECT_EQ(bind_parameters<FixedWorkParameters>(*values).quantum_s, 1e-3);
}

class MpiFixedWork : public test::MpiLaunch {
 protected:
  MpiFixedWork() {
    parameters_.threads = 2;
    parameters_.quantum_s = 2e-5;
    parameters_.quanta = 1500;  // two batches
    parameters_.watch_s = 0.002;
    parameters_.warm_up_s = 0;
  }
  PhaseOutcome run() {
    FixedWorkPhase phase(parameters_, context_);
    return run_phase(phase);
  }
  double least(const std::string& name) { return gauge(name, "least"); }
  double most(const std::string& name) { return gauge(name, "most"); }

  FixedWorkParameters parameters_;
};

TEST_F(MpiFixedWork, EveryQuantumOfEveryThreadIsCounted) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(record_["operations"], 1500 * world_.size());
  EXPECT_EQ(record_["latency_parts"]["quantum"]["operations"], 2 * 1500 * world_.size());
  EXPECT_EQ(least("threads"), 2);
}

TEST_F(MpiFixedWork, TimesAreInOrderAndSharesAreShares) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_GT(least("shortest_ns"), 0);
  EXPECT_LE(least("shortest_ns"), least("median_ns"));
  EXPECT_LE(most("median_ns"), most("p99_ns"));
  EXPECT_LE(most("p99_ns"), most("longest_ns"));
  for (const char* share : {"noise_share", "worst_noise_share", "turbo_share"}) {
    EXPECT_GE(least(share), 0) << share;
    EXPECT_LT(most(share), 1) << share;
  }
  EXPECT_GE(most("kernel_s"), 1500 * most("shortest_ns") * 1e-9 * 0.99);
}

TEST_F(MpiFixedWork, DetoursArePartOfTheWatchedTime) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_GE(least("watched_s"), 2 * 0.002);
  EXPECT_LE(most("detour_s"), most("watched_s"));
  EXPECT_LE(most("longest_detour_s"), most("detour_s") + 1e-12);
  const auto found = record_["gauges"]["detours"]["sum"].get<double>();
  const auto& part = record_["latency_parts"]["detour"];
  EXPECT_EQ(part.is_null() ? 0 : part["operations"].get<double>(), found);
}

TEST_F(MpiFixedWork, WithoutAWatchThereAreNoDetours) {
  parameters_.watch_s = 0;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(most("watched_s"), 0);
  EXPECT_EQ(most("detours"), 0);
}

TEST_F(MpiFixedWork, ARequestToStopEndsItAfterItsBatch) {
  parameters_.quanta = 10'000'000;
  StopFlags::instance().stop_now();
  EXPECT_EQ(run().status, PhaseStatus::interrupted);
  StopFlags::instance().reset();
  if (world_.root()) {
    EXPECT_LE(record_["operations"], 1024 * world_.size());
  }
}

}  // namespace

}  // namespace ullage::fixed_work_test
