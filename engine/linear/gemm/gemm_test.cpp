// SPDX-License-Identifier: Apache-2.0
#include "linear/gemm/phase.hpp"

#include <gtest/gtest.h>

#include "linear/blas_library.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::gemm_test {
namespace {

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("gemm", given, record); }

TEST(Gemm, IsDoneByTheMachinesOwnLibrary) {
  if (const auto blas = load_blas({}); !blas) GTEST_SKIP() << to_line(blas.error());
  for (const char* type : {"fp64", "fp32"}) {
    Json record;
    ASSERT_EQ(run({{"n", std::int64_t{150}}, {"warm_up_s", 0.0}, {"type", std::string(type)}}, record),
              PhaseStatus::ok);
    EXPECT_EQ(record["phase"], "gemm");
    EXPECT_FALSE(record["hints_granted"]["library"].get<std::string>().empty());
  }
}

TEST(Gemm, AnotherLibraryInTheSameLaunchFailsTheCase) {
  (void)load_blas({});
  Json record;
  EXPECT_EQ(run({{"n", std::int64_t{150}}, {"library", std::string("libother.so")}}, record), PhaseStatus::failed);
}

TEST(Gemm, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("gemm");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  EXPECT_TRUE(std::holds_alternative<ComputeWork>(entry->work));
  const auto values =
      complete(entry->description.parameters, {{"n", std::int64_t{77}}, {"type", std::string("fp32")}}, "");
  ASSERT_TRUE(values.has_value());
  const auto parameters = bind_parameters<GemmParameters>(*values);
  EXPECT_EQ(parameters.n, 77);
  EXPECT_EQ(parameters.type, GemmType::fp32);
  EXPECT_EQ(parameters.calls, GemmParameters{}.calls);
}

}  // namespace
}  // namespace ullage::gemm_test
