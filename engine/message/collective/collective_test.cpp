// SPDX-License-Identifier: Apache-2.0
// Workload `collective` as a plan has it.
#include "mpi/collectives.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::collective_test {

class MpiCollectiveWorkload : public test::MpiLaunch {};

TEST_F(MpiCollectiveWorkload, CollectivesHaveADefaultThatTwoRanksCanRun) {
  EXPECT_FALSE(entry("collective").works_on_storage());
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(run("collective", brief({})), PhaseStatus::ok);
}

TEST_F(MpiCollectiveWorkload, CollectivesAreRefusedThatMakeNoSense) {
  EXPECT_EQ(refusal("collective", {}, 2), "");
  EXPECT_NE(refusal("collective", {}, 1).find("2 ranks or more"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"message_bytes", 6}}, 2).find("multiple"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"tests", 1}}, 2).find("overlap"), std::string::npos);
  EXPECT_NE(refusal("collective", {{"operation", std::string("barrier")}}, 2).find("moves nothing"), std::string::npos);
}

/// The limit is that of the call itself, where the MPI has no calls with larger counts.
TEST_F(MpiCollectiveWorkload, SizesAreLimitedByWhatACallCanBeTold) {
  const auto refused = [](const char* operation, std::int64_t bytes, int ranks) {
    return refusal("collective", {{"operation", std::string(operation)}, {"message_bytes", bytes}}, ranks);
  };
  constexpr std::int64_t mebi = 1 << 20;
  for (const char* any : {"allreduce", "bcast", "alltoall", "reduce_scatter"})
    EXPECT_EQ(refused(any, mebi, 100'000), "");
  EXPECT_EQ(refused("allreduce", 4096 * mebi, 2), "") << "2^30 elements";
  const auto beyond_int = {refused("allgather", mebi, 100'000), refused("alltoallv", mebi, 100'000),
                           refused("bcast", 2048 * mebi, 2), refused("allreduce", 8192 * mebi, 2)};
  for (const std::string& text : beyond_int)
    EXPECT_EQ(text.find("no large counts") != std::string::npos, !mpi::has_large_counts()) << text;
}

class MpiCollectivePhase : public test::MpiLaunch {};

const std::vector<std::string> operations{"bcast",     "reduce",     "allreduce", "gather",    "scatter",
                                          "allgather", "allgatherv", "alltoall",  "alltoallv", "reduce_scatter"};

TEST_F(MpiCollectivePhase, CollectivesOfEveryKindGiveWhatTheyMust) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const std::string& operation : operations) {
    ASSERT_EQ(run("collective", brief({{"operation", operation}, {"message_bytes", 36}})), PhaseStatus::ok)
        << operation;
    if (!world_.root()) continue;
    EXPECT_EQ(records_.front()["phase"], "collective");
    EXPECT_EQ(records_.front()["operations"], 2 * world_.size());
    EXPECT_GE(gauge("calls"), 2);
    EXPECT_EQ(gauge("calls", "least"), gauge("calls"));
    EXPECT_GT(gauge("call_s", "least"), 0);
    EXPECT_GT(records_.front()["verified_bytes"], 0) << operation;
  }
}

TEST_F(MpiCollectivePhase, CollectivesOfSizesThatRanksDoNotDivide) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Values odd{{"operation", std::string("reduce_scatter")}, {"message_bytes", 8}};
  EXPECT_EQ(run("collective", brief(odd)), PhaseStatus::ok);
  const Values one{{"operation", std::string("alltoallv")}, {"message_bytes", 1}};
  EXPECT_EQ(run("collective", brief(one)), PhaseStatus::ok);
}

TEST_F(MpiCollectivePhase, OverlapHasThreeStretches) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const std::int64_t tests : {0, 3}) {
    const Values given{{"operation", std::string("allreduce")},
                       {"message_bytes", 64},
                       {"mode", std::string("overlap")},
                       {"tests", tests}};
    ASSERT_EQ(run("collective", brief(given)), PhaseStatus::ok);
    if (!world_.root()) continue;
    EXPECT_GT(gauge("call_s", "least"), 0);
    EXPECT_GT(gauge("compute_s", "least"), 0);
    EXPECT_GT(gauge("overall_s", "least"), 0);
  }
}

TEST_F(MpiCollectivePhase, BytesOnALinkAreThoseOfNcclTests) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const double n = world_.size();
  const std::vector<std::pair<std::string, double>> factors{
      {"bcast", 1}, {"allreduce", 2 * (n - 1) / n}, {"reduce_scatter", (n - 1) / n}, {"alltoall", n - 1}};
  for (const auto& [operation, factor] : factors) {
    const Values given{{"operation", operation}, {"message_bytes", 1024}};
    ASSERT_EQ(run("collective", brief(given)), PhaseStatus::ok);
    if (!world_.root()) continue;
    EXPECT_DOUBLE_EQ(gauge("link_bytes") / gauge("calls"), 1024 * factor) << operation;
  }
}

TEST_F(MpiCollectivePhase, BarriersMoveNothing) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  ASSERT_EQ(run("collective", brief({{"operation", std::string("barrier")}, {"message_bytes", 0}})), PhaseStatus::ok);
  if (world_.root()) {
    EXPECT_EQ(records_.front()["bytes"], 0);
  }
}

}  // namespace ullage::collective_test
