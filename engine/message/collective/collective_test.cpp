// SPDX-License-Identifier: Apache-2.0
// Workload `collective` as a plan has it.
#include "message/call_test_support.hpp"

namespace ullage::collective_test {
namespace {

using test::MpiCalls;

TEST_F(MpiCalls, CollectivesHaveADefaultThatTwoRanksCanRun) {
  EXPECT_FALSE(entry("collective").works_on_storage());
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(run("collective", brief({})), PhaseStatus::ok);
}

TEST_F(MpiCalls, CollectivesAreRefusedThatMakeNoSense) {
  EXPECT_EQ(refusal("collective", 2, {}), "");
  EXPECT_NE(refusal("collective", 1, {}).find("2 ranks or more"), std::string::npos);
  EXPECT_NE(refusal("collective", 2, {{"message_bytes", std::int64_t{6}}}).find("multiple"), std::string::npos);
  EXPECT_NE(refusal("collective", 4096, {{"message_bytes", std::int64_t{1 << 20}}}).find("2 GiB"), std::string::npos);
  EXPECT_NE(refusal("collective", 2, {{"tests", std::int64_t{1}}}).find("overlap"), std::string::npos);
  EXPECT_NE(refusal("collective", 2, {{"operation", std::string("barrier")}}).find("moves nothing"), std::string::npos);
}

}  // namespace
}  // namespace ullage::collective_test
