// SPDX-License-Identifier: Apache-2.0
#include "linear/solve_phase.hpp"

#include <gtest/gtest.h>

#include "core/json.hpp"
#include "core/phase_runner.hpp"
#include "core/signals.hpp"
#include "linear/blas_library.hpp"

namespace ullage::solve_test {
namespace {

/// The workload as a launch makes it, run once.
PhaseOutcome run(const Values& given, Json& record) {
  const mpi::World world;
  const mpi::ClockSync clock;
  Meter meter(StopFlags::instance().now());
  Watchdog watchdog({});
  WorkloadContext context;
  context.world = &world;
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find("solve");
  const auto workload = entry.make(complete(entry.description.parameters, given, "").value(), context);
  EXPECT_TRUE(workload->begin().has_value());
  EXPECT_EQ(workload->phases(), 1U);
  const auto phase = workload->phase(0);
  const PhaseOutcome outcome = run_phase({&world, &clock, &watchdog, &meter, {}, 0}, nullptr, *phase, record);
  EXPECT_TRUE(workload->end(true).has_value());
  return outcome;
}

TEST(Solve, IsDoneByTheMachinesOwnLibrary) {
  if (const auto blas = load_blas({}); !blas) GTEST_SKIP() << to_line(blas.error());
  for (const std::int64_t block : {0, 32}) {
    Json record;
    ASSERT_EQ(run({{"n", std::int64_t{300}}, {"warm_up_s", 0.0}, {"block", block}}, record).status, PhaseStatus::ok);
    EXPECT_EQ(record["phase"], "solve");
    EXPECT_LT(record["gauges"]["residual"]["most"], 16);
  }
}

TEST(Solve, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("solve");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->needs_storage);
  const auto values =
      complete(entry->description.parameters, {{"block", std::int64_t{64}}, {"seed", std::int64_t{7}}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(SolveParameters::from(*values).block, 64);
  EXPECT_EQ(SolveParameters::from(*values).seed, 7U);
}

}  // namespace
}  // namespace ullage::solve_test
