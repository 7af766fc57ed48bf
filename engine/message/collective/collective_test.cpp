// SPDX-License-Identifier: Apache-2.0
// Workload `collective` as a plan has it.
#include "run/workload_test_support.hpp"

namespace ullage::collective_test {
namespace {

class MpiCollectiveWorkload : public test::MpiLaunch {};

TEST_F(MpiCollectiveWorkload, CollectivesHaveADefaultThatTwoRanksCanRun) {
  EXPECT_FALSE(entry("collective").works_on_storage());
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(run("collective", brief({})), PhaseStatus::ok);
}

TEST_F(MpiCollectiveWorkload, CollectivesAreRefusedThatMakeNoSense) {
  EXPECT_EQ(refusal("collective", {}, 2), "");
  EXPECT_NE(refusal("collective", {}, 1).find("2 ranks or more"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"message_bytes", std::int64_t{6}}}, 2).find("multiple"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"message_bytes", std::int64_t{1 << 20}}}, 4096).find("2 GiB"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"tests", std::int64_t{1}}}, 2).find("overlap"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"operation", std::string("barrier")}}, 2).find("moves nothing"), std::string::npos);
}

}  // namespace
}  // namespace ullage::collective_test
