// SPDX-License-Identifier: Apache-2.0
// Workload `collective` as a plan has it.
#include "mpi/collectives.hpp"
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
  EXPECT_NE(refusal("collective", {{"tests", std::int64_t{1}}}, 2).find("overlap"), std::string::npos);
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

}  // namespace
}  // namespace ullage::collective_test
