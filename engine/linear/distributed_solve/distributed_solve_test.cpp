// SPDX-License-Identifier: Apache-2.0
#include "linear/distributed_solve/phase.hpp"
#include "run/workload_test_support.hpp"

#include <gtest/gtest.h>

namespace ullage::distributed_solve_test {
namespace {

TEST(DistributedSolve, IsDoneByTheMachinesOwnLibrary) {
  if (const auto library = load_scalapack({}); !library) GTEST_SKIP() << to_line(library.error());
  Json record;
  const Values given{{"n", std::int64_t{200}}, {"warm_up_s", 0.01}, {"block", std::int64_t{32}}};
  ASSERT_EQ(test::run_workload("distributed-solve", given, record), PhaseStatus::ok);
  EXPECT_EQ(record["phase"], "distributed-solve");
  EXPECT_LT(record["gauges"]["residual"]["most"], 16);
}

TEST(DistributedSolve, NeedsNoStorageAndTakesItsOwnParameters) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("distributed-solve");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  const auto values =
      complete(entry->description.parameters, {{"block", std::int64_t{48}}, {"grid_rows", std::int64_t{2}}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(bind_parameters<DistributedSolveParameters>(*values).block, 48);
  EXPECT_EQ(bind_parameters<DistributedSolveParameters>(*values).grid_rows, 2);
}

}  // namespace
}  // namespace ullage::distributed_solve_test
