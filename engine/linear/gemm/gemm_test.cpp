// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "linear/blas_library.hpp"
#include "linear/gemm/gemm.hpp"
#include "linear/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::gemm_test {

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("gemm", given, record); }

TEST(Gemm, IsDoneByTheMachinesOwnLibrary) {
  if (const auto blas = load_blas({}); !blas) GTEST_SKIP() << to_line(blas.error());
  for (const char* type : {"fp64", "fp32"}) {
    Json record;
    ASSERT_EQ(run({{"n", 150}, {"warm_up_s", 0.0}, {"type", std::string(type)}}, record), PhaseStatus::ok);
    EXPECT_EQ(record["phase"], "gemm");
    EXPECT_FALSE(record["hints_granted"]["library"].get<std::string>().empty());
  }
}

TEST(Gemm, AnotherLibraryInTheSameLaunchFailsTheCase) {
  (void)load_blas({});
  Json record;
  EXPECT_EQ(run({{"n", 150}, {"library", std::string("libother.so")}}, record), PhaseStatus::failed);
}

TEST(Gemm, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("gemm");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  EXPECT_TRUE(std::holds_alternative<WorkWithoutStorage>(entry->work));
  const auto values = complete(entry->description.parameters, {{"n", 77}, {"type", std::string("fp32")}}, "");
  ASSERT_TRUE(values.has_value());
  const auto parameters = bind_parameters<GemmParameters>(*values);
  EXPECT_EQ(parameters.n, 77);
  EXPECT_EQ(parameters.type, GemmType::fp32);
  EXPECT_EQ(parameters.calls, GemmParameters{}.calls);
}

class MpiGemmPhase : public test::MpiLaunch {
 protected:
  MpiGemmPhase() {
    parameters_.n = 50;
    parameters_.calls = 3;
    parameters_.warm_up_s = 0;
  }
  template <class T = double>
  PhaseOutcome run() {
    GemmPhase<T> phase(parameters_, context_, source_);
    return run_phase(phase);
  }

  GemmParameters parameters_;
  test::PlainBlas blas_;
  BlasSource source_ = [this] { return Result<Blas*>(&blas_); };
};

TEST_F(MpiGemmPhase, CallIsAnOperationAndItsWorkIsCounted) {
  parameters_.threads = 3;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(blas_.products, 3);
  if (!world_.root()) return;
  const Json& gauges = record_["gauges"];
  EXPECT_EQ(record_["operations"], 3 * world_.size());
  EXPECT_DOUBLE_EQ(gauges["operations"]["most"].get<double>(), 3 * 2.0 * 50 * 50 * 50);
  EXPECT_EQ(gauges["library_threads"]["most"], 3);
  EXPECT_GT(gauges["kernel_s"]["least"].get<double>(), 0);
  EXPECT_LE(gauges["shortest_window_s"]["most"].get<double>() * 3, gauges["kernel_s"]["most"].get<double>() + 1e-9);
  EXPECT_EQ(record_["hints_granted"]["core"], "none");
  EXPECT_EQ(record_["hints_granted"]["library"], "plain");
}

TEST_F(MpiGemmPhase, SmallerNumbersToo) { EXPECT_EQ(run<float>().status, PhaseStatus::ok); }

TEST_F(MpiGemmPhase, WarmUpIsNotCounted) {
  parameters_.warm_up_s = 0.005;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_GT(blas_.products, 3);
  if (!world_.root()) return;
  EXPECT_EQ(record_["operations"], 3 * world_.size());
}

TEST_F(MpiGemmPhase, WrongProductFailsThePhase) {
  blas_.spoil_product = [](const Block<double>& c) { c.at(20, 20) += 1e-6; };
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["bad_blocks"], world_.size());
}

TEST_F(MpiGemmPhase, MissingLibraryFailsThePhaseBeforeItsTimer) {
  source_ = [] { return Result<Blas*>(fail(environment_error("BLAS", "none found"))); };
  EXPECT_EQ(run().status, PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_EQ(record_["failures"][0]["text"], "none found");
}

TEST_F(MpiGemmPhase, LibraryThatCannotBeToldItsThreadsFailsThePhase) {
  blas_.can_be_told = false;
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(blas_.products, 0);
}

TEST_F(MpiGemmPhase, MatricesThatDoNotFitAreRefused) {
  parameters_.n = 3'000'000;  // 216 TB
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(blas_.products, 0);
}

}  // namespace ullage::gemm_test
