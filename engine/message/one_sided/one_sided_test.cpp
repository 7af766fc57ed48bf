// SPDX-License-Identifier: Apache-2.0
// Workload `one-sided` as a plan has it.
#include "message/one_sided/one_sided.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::one_sided_test {

class MpiOneSidedWorkload : public test::MpiLaunch {};

TEST_F(MpiOneSidedWorkload, OneSidedOperationsHaveADefaultThatTwoRanksCanRun) {
  EXPECT_FALSE(entry("one-sided").works_on_storage());
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(run("one-sided", brief({})), PhaseStatus::ok);
}

TEST_F(MpiOneSidedWorkload, OneSidedOperationsAreRefusedThatMakeNoSense) {
  EXPECT_EQ(refusal("one-sided", {}, 2), "");
  EXPECT_NE(refusal("one-sided", {}, 1).find("2 ranks or more"), std::string::npos);
  const Values odd{{"operation", std::string("accumulate")}, {"message_bytes", 12}};
  EXPECT_NE(refusal("one-sided", odd, 2).find("multiple of 8"), std::string::npos);
}

class MpiOneSidedPhase : public test::MpiLaunch {};

TEST(OneSidedRoles, OnePairIsTheFirstAndTheLast) {
  EXPECT_EQ(one_sided_role(OneSidedPairs::one, 0, 5).target, 4);
  EXPECT_EQ(one_sided_role(OneSidedPairs::one, 4, 5).origin, 0);
  for (const int rank : {1, 2, 3}) {
    EXPECT_EQ(one_sided_role(OneSidedPairs::one, rank, 5).target, OneSidedRole::nobody);
    EXPECT_EQ(one_sided_role(OneSidedPairs::one, rank, 5).origin, OneSidedRole::nobody);
  }
}

TEST(OneSidedRoles, AllPairsAreDisjointAndTheOddRankIsFree) {
  for (const int ranks : {2, 3, 4, 5, 8}) {
    int origins = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const OneSidedRole role = one_sided_role(OneSidedPairs::all, rank, ranks);
      EXPECT_FALSE(role.target != OneSidedRole::nobody && role.origin != OneSidedRole::nobody);
      if (role.target == OneSidedRole::nobody) continue;
      ++origins;
      EXPECT_EQ(one_sided_role(OneSidedPairs::all, role.target, ranks).origin, rank);
    }
    EXPECT_EQ(origins, ranks / 2);
  }
}

TEST_F(MpiOneSidedPhase, OneSidedOperationsOfEveryKindLeaveWhatTheyMust) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const std::string operation : {"put", "get", "accumulate"})
    for (const std::string sync : {"lock", "flush", "fence"}) {
      const Values given{{"operation", operation}, {"sync", sync}, {"message_bytes", 24}};
      ASSERT_EQ(run("one-sided", brief(given)), PhaseStatus::ok) << operation << " " << sync;
      if (!world_.root()) continue;
      EXPECT_EQ(gauge("origins"), 1);
      EXPECT_GE(gauge("calls"), 2);
      EXPECT_GT(gauge("elapsed_s", "least"), 0) << operation << " " << sync;
      EXPECT_EQ(records_.front()["verified_bytes"], 2 * 24);
    }
}

TEST_F(MpiOneSidedPhase, OneSidedOperationsUnderWayTogetherInAllPairs) {
  if (world_.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  for (const std::string operation : {"put", "get", "accumulate"}) {
    const Values given{
        {"operation", operation}, {"pairs", std::string("all")}, {"outstanding", 5}, {"message_bytes", 4096}};
    ASSERT_EQ(run("one-sided", brief(given)), PhaseStatus::ok) << operation;
    if (!world_.root()) continue;
    EXPECT_EQ(gauge("origins"), world_.size() / 2);
    EXPECT_EQ(gauge("operations"), 5 * gauge("calls"));
    EXPECT_LE(gauge("least_elapsed_s"), gauge("most_elapsed_s"));
    const double bytes = gauge("operations") * gauge("origins") * 4096;
    EXPECT_EQ(records_.front()["bytes"].get<double>(), bytes);
  }
}

}  // namespace ullage::one_sided_test
