// SPDX-License-Identifier: Apache-2.0
// Workload `congestion` as a plan has it.
#include "run/workload_test_support.hpp"

namespace ullage::congestion_test {
namespace {

class MpiCongestionWorkload : public test::MpiLaunch {};

TEST_F(MpiCongestionWorkload, CongestionHasSixPhasesAndNeedsNoStorage) {
  EXPECT_FALSE(entry("congestion").works_on_storage());
  if (world_.size() < 4) GTEST_SKIP() << "needs 4 ranks";
  EXPECT_EQ(run("congestion", {{"rings", std::int64_t{1}}, {"test_s", 1e-3}}), PhaseStatus::ok);
  EXPECT_EQ(records_.size(), 6U);
}

TEST_F(MpiCongestionWorkload, CongestionOfFewerThanFourRanksIsRefused) {
  EXPECT_EQ(refusal("congestion", {}, 4), "");
  EXPECT_NE(refusal("congestion", {}, 3).find("4 ranks or more"), std::string::npos);
  EXPECT_NE(refusal("congestion", {{"message_bytes", std::int64_t{12}}}, 4).find("multiple of 8"), std::string::npos);
}

}  // namespace
}  // namespace ullage::congestion_test
