// SPDX-License-Identifier: Apache-2.0
#include "linear/solve/phase.hpp"

#include <gtest/gtest.h>

#include "linear/blas_library.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::solve_test {
namespace {

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("solve", given, record); }

TEST(Solve, IsDoneByTheMachinesOwnLibrary) {
  if (const auto blas = load_blas({}); !blas) GTEST_SKIP() << to_line(blas.error());
  for (const std::int64_t block : {0, 32}) {
    Json record;
    ASSERT_EQ(run({{"n", std::int64_t{300}}, {"warm_up_s", 0.0}, {"block", block}}, record), PhaseStatus::ok);
    EXPECT_EQ(record["phase"], "solve");
    EXPECT_LT(record["gauges"]["residual"]["most"], 16);
  }
}

TEST(Solve, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("solve");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  const auto values =
      complete(entry->description.parameters, {{"block", std::int64_t{64}}, {"seed", std::int64_t{7}}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(bind_parameters<SolveParameters>(*values).block, 64);
  EXPECT_EQ(bind_parameters<SolveParameters>(*values).seed, 7U);
}

}  // namespace
}  // namespace ullage::solve_test
