// SPDX-License-Identifier: Apache-2.0
// Workload `one-sided` as a plan has it.
#include "run/workload_test_support.hpp"

namespace ullage::one_sided_test {
namespace {

class MpiOneSidedWorkload : public test::MpiLaunch {};

TEST_F(MpiOneSidedWorkload, OneSidedOperationsHaveADefaultThatTwoRanksCanRun) {
  EXPECT_FALSE(entry("one-sided").works_on_storage());
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(run("one-sided", brief({})), PhaseStatus::ok);
}

TEST_F(MpiOneSidedWorkload, OneSidedOperationsAreRefusedThatMakeNoSense) {
  EXPECT_EQ(refusal("one-sided", {}, 2), "");
  EXPECT_NE(refusal("one-sided", {}, 1).find("2 ranks or more"), std::string::npos);
  const Values odd{{"operation", std::string("accumulate")}, {"message_bytes", std::int64_t{12}}};
  EXPECT_NE(refusal("one-sided", odd, 2).find("multiple of 8"), std::string::npos);
}

}  // namespace
}  // namespace ullage::one_sided_test
