// SPDX-License-Identifier: Apache-2.0
#include "noise/fixed_work_phase.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ullage::fixed_work_test
