// SPDX-License-Identifier: Apache-2.0
#include "linear/gemm_phase.hpp"

#include <gtest/gtest.h>

#include "core/json.hpp"
#include "core/phase_runner.hpp"
#include "core/signals.hpp"
#include "linear/blas_library.hpp"

namespace ullage::gemm_test {
namespace {

/// The workload as a launch makes it, run once.
PhaseOutcome run(const Values& given, Json& record) {
  const mpi::World world;
  const mpi::ClockSync clock;
  Meter meter(StopFlags::instance().now());
  Watchdog watchdog({});
  WorkloadContext context;
  context.world = &world;
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find("gemm");
  const auto workload = entry.make(complete(entry.description.parameters, given, "").value(), context);
  EXPECT_TRUE(workload->begin().has_value());
  EXPECT_EQ(workload->phases(), 1U);
  const auto phase = workload->phase(0);
  const PhaseOutcome outcome = run_phase({&world, &clock, &watchdog, &meter, {}, 0}, nullptr, *phase, record);
  EXPECT_TRUE(workload->end(true).has_value());
  return outcome;
}

TEST(Gemm, IsDoneByTheMachinesOwnLibrary) {
  if (const auto blas = load_blas({}); !blas) GTEST_SKIP() << to_line(blas.error());
  for (const char* type : {"fp64", "fp32"}) {
    Json record;
    ASSERT_EQ(run({{"n", std::int64_t{150}}, {"warm_up_s", 0.0}, {"type", std::string(type)}}, record).status,
              PhaseStatus::ok);
    EXPECT_EQ(record["phase"], "gemm");
    EXPECT_FALSE(record["hints_granted"]["library"].get<std::string>().empty());
  }
}

TEST(Gemm, AnotherLibraryInTheSameLaunchFailsTheCase) {
  (void)load_blas({});
  Json record;
  EXPECT_EQ(run({{"n", std::int64_t{150}}, {"library", std::string("libother.so")}}, record).status,
            PhaseStatus::failed);
}

TEST(Gemm, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("gemm");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->needs_storage);
  EXPECT_EQ(entry->description.capabilities, std::vector<std::string>{"no-storage"});
  const auto values =
      complete(entry->description.parameters, {{"n", std::int64_t{77}}, {"type", std::string("fp32")}}, "");
  ASSERT_TRUE(values.has_value());
  const auto parameters = GemmParameters::from(*values);
  EXPECT_EQ(parameters.n, 77);
  EXPECT_EQ(parameters.type, GemmType::fp32);
  EXPECT_EQ(parameters.calls, GemmParameters{}.calls);
}

}  // namespace
}  // namespace ullage::gemm_test
