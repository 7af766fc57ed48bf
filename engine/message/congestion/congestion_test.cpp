// SPDX-License-Identifier: Apache-2.0
// Workload `congestion` as a plan has it.
#include "run/workload_test_support.hpp"

namespace ullage::congestion_test {

class MpiCongestionWorkload : public test::MpiLaunch {};

TEST_F(MpiCongestionWorkload, CongestionHasSixPhasesAndNeedsNoStorage) {
  EXPECT_FALSE(entry("congestion").works_on_storage());
  if (world_.size() < 4) GTEST_SKIP() << "needs 4 ranks";
  EXPECT_EQ(run("congestion", {{"rings", 1}, {"test_s", 1e-3}}), PhaseStatus::ok);
  EXPECT_EQ(records_.size(), 6U);
}

TEST_F(MpiCongestionWorkload, CongestionOfFewerThanFourRanksIsRefused) {
  EXPECT_EQ(refusal("congestion", {}, 4), "");
  EXPECT_NE(refusal("congestion", {}, 3).find("4 ranks or more"), std::string::npos);
  EXPECT_NE(refusal("congestion", {{"message_bytes", 12}}, 4).find("multiple of 8"), std::string::npos);
}

constexpr int ranks_needed = 4;

class MpiCongestion : public test::MpiLaunch {
 protected:
  [[nodiscard]] PhaseStatus run_load(const std::string& load) {
    return run("congestion",
               {{"load", load}, {"rings", 3}, {"test_s", 1e-3}, {"bulk_bytes", 1000}, {"load_bytes", 64}});
  }
  [[nodiscard]] static double of(const Json& record, const std::string& gauge) {
    return record["gauges"][gauge]["most"].get<double>();
  }
};

TEST_F(MpiCongestion, EachTestAloneAndUnderLoadCountsOnTheVictimsOnly) {
  if (world_.size() < ranks_needed) GTEST_SKIP() << "needs 4 ranks";
  for (const std::string load : {"incast", "alltoall"}) {
    ASSERT_EQ(run_load(load), PhaseStatus::ok) << load;
    ASSERT_EQ(records_.size(), 6U);
    if (!world_.root()) continue;
    std::vector<std::string> names;
    for (const Json& record : records_) {
      names.push_back(record["phase"]);
      const bool is_congested = names.back().ends_with("-congested");
      EXPECT_EQ(of(record, "victims"), 2);
      EXPECT_EQ(of(record, "load_ranks"), world_.size() - 2);
      EXPECT_EQ(of(record, "load_s") > 0, is_congested);
      EXPECT_EQ(record["counters"]["load_bytes"].get<double>() > 0, is_congested);
      const double runs = 2 * of(record, "rings") * of(record, "runs_a_ring");
      EXPECT_EQ(record["operations"].get<double>(), runs);
      EXPECT_EQ(record["latency"]["operations"].get<double>(), runs);
      EXPECT_EQ(record["bytes"].get<double>(), runs * of(record, "operation_bytes"));
      EXPECT_EQ(record["facts"]["victims"].size(), 2U);
    }
    EXPECT_EQ(names, (std::vector<std::string>{"latency-isolated", "latency-congested", "bandwidth-isolated",
                                               "bandwidth-congested", "allreduce-isolated", "allreduce-congested"}));
    EXPECT_EQ(of(records_[2], "operation_bytes"), 8000);
  }
}

}  // namespace ullage::congestion_test
