// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong` as a plan has it.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "base/signals.hpp"
#include "message/ping_pong/pair_table.hpp"
#include "message/ping_pong/ping_pong.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::ping_pong_test {
namespace {

std::string refusal(const Values& given, int ranks) { return test::Launch::refusal("ping-pong", given, ranks); }

Values few(Values given) {
  given.try_emplace("loops", std::int64_t{2});
  given.try_emplace("measurements", std::int64_t{1});
  return given;
}

/// Every ordered pair of different ends, once, with a time.
void expect_all_pairs(const Json& facts, int ends) {
  std::set<std::pair<int, int>> met;
  for (const Json& one : facts["one_way_s"]) {
    EXPECT_TRUE(met.emplace(one[0].get<int>(), one[1].get<int>()).second);
    EXPECT_NE(one[0], one[1]);
    EXPECT_GT(one[2].get<double>(), 0);
  }
  EXPECT_EQ(met.size(), static_cast<std::size_t>(ends * (ends - 1)));
  ASSERT_EQ(facts["ends"].size(), static_cast<std::size_t>(ends));
  EXPECT_EQ(facts["ends"].back(), "node0:rank" + std::to_string(ends - 1));
  EXPECT_EQ(facts["hosts"].size(), static_cast<std::size_t>(ends));
}

TEST(MpiPingPong, AllPairsAloneAndTogetherByBothKindsOfTraffic) {
  const int ranks = mpi::Comm::world().size();
  if (ranks < 2) GTEST_SKIP() << "one rank";
  for (const bool at_once : {false, true})
    for (const char* traffic : {"ping-pong", "one-way"}) {
      Json record;
      const Values given = few({{"at_once", at_once}, {"traffic", traffic}, {"message_bytes", std::int64_t{3000}}});
      ASSERT_EQ(test::run_workload("ping-pong", given, record), PhaseStatus::ok);
      if (mpi::Comm::world().rank() != 0) continue;
      EXPECT_EQ(record["phase"], "pairs");
      EXPECT_EQ(record["facts"]["traffic"], traffic);
      expect_all_pairs(record["facts"], ranks);
      const Json& gauges = record["gauges"];
      EXPECT_EQ(gauges["pairs"]["most"], ranks * (ranks - 1));
      EXPECT_EQ(gauges["message_bytes"]["least"], 3000);
      EXPECT_LE(gauges["least_one_way_s"]["most"], gauges["mean_one_way_s"]["least"]);
      EXPECT_LE(gauges["mean_one_way_s"]["most"], gauges["most_one_way_s"]["least"]);
      EXPECT_EQ(record["bad_blocks"], 0);
      EXPECT_GT(record["verified_bytes"], 0);
    }
}

TEST(MpiPingPong, SampledPairsKeepToTheirStride) {
  const int ranks = mpi::Comm::world().size();
  if (ranks < 2) GTEST_SKIP() << "one rank";
  Json record;
  ASSERT_EQ(test::run_workload("ping-pong", few({{"pairs", "sampled"}}), record), PhaseStatus::ok);
  if (mpi::Comm::world().rank() != 0) return;
  EXPECT_EQ(record["facts"]["stride"], 1) << "so few ranks are all within any budget";
  EXPECT_EQ(record["facts"]["one_way_s"].size(), static_cast<std::size_t>(ranks * (ranks - 1)));
}

TEST(MpiPingPong, OfEveryOtherEndAllPairs) {
  const int ranks = mpi::Comm::world().size();
  if (ranks < 3) GTEST_SKIP() << "too few ranks";
  for (const bool at_once : {false, true}) {
    Json record;
    const Values given = few({{"every", std::int64_t{2}}, {"at_once", at_once}});
    ASSERT_EQ(test::run_workload("ping-pong", given, record), PhaseStatus::ok);
    if (mpi::Comm::world().rank() != 0) continue;
    EXPECT_EQ(record["facts"]["stride"], 2);
    EXPECT_EQ(record["facts"]["ends"], (Json{"node0:rank0", "node0:rank2"}));
    ASSERT_EQ(record["facts"]["one_way_s"].size(), 2U);
    for (const Json& one : record["facts"]["one_way_s"]) EXPECT_EQ(one[0].get<int>() + one[1].get<int>(), 2);
  }
}

/// The record then names the table, which each end writes its part of.
TEST(MpiPingPong, ATableHasTheTimesThatTheRecordHasNot) {
  test::Launch launch;
  if (launch.world_.size() < 2) GTEST_SKIP() << "one rank";
  const test::SharedFolder folder(launch.world_);
  launch.context_.tables = folder.path() + "/r.ndjson.c.0";
  ASSERT_EQ(launch.run("ping-pong", few({{"table", true}})), PhaseStatus::ok);
  const auto ends = static_cast<std::size_t>(launch.world_.size());
  const std::string table = test::read_file(folder.path() + "/r.ndjson.c.0.pairs");
  EXPECT_EQ(table.size(), ends * sizeof(PairEnd) + ends * (ends - 1) * sizeof(PairTime));
  if (!launch.world_.root()) return;
  const Json& facts = launch.record_["facts"];
  EXPECT_EQ(facts["table"], (Json{{"name", "r.ndjson.c.0.pairs"}, {"ends", ends}, {"pairs", ends * (ends - 1)}}));
  for (const char* gone : {"ends", "hosts", "one_way_s"}) EXPECT_FALSE(facts.contains(gone)) << gone;
}

TEST(MpiPingPong, ATableWithoutAPlaceFailsThePhase) {
  if (mpi::Comm::world().size() < 2) GTEST_SKIP() << "one rank";
  Json record;
  EXPECT_EQ(test::run_workload("ping-pong", few({{"table", true}}), record), PhaseStatus::failed);
}

TEST(MpiPingPong, BetweenNodesThereAreTwoNodes) {
  Json record;
  if (mpi::Comm::world().size() < 2) GTEST_SKIP() << "one rank";
  ASSERT_EQ(test::run_workload("ping-pong", few({{"between", "nodes"}}), record), PhaseStatus::failed);
  if (mpi::Comm::world().rank() != 0) return;
  EXPECT_EQ(record["failures"][0]["text"], "all ranks are on one node");
}

TEST(PingPong, RefusesWhatSaysNothing) {
  EXPECT_FALSE(test::Launch::entry("ping-pong").works_on_storage());
  EXPECT_EQ(refusal({}, 2), "");
  EXPECT_NE(refusal({}, 1).find("two ranks or more"), std::string::npos);
  EXPECT_NE(refusal({{"at_once", true}, {"pairs", "sampled"}}, 4).find("/p/at_once"), std::string::npos);
  EXPECT_NE(refusal({}, 1025).find("/p/pairs"), std::string::npos);
  EXPECT_EQ(refusal({{"between", "nodes"}}, 1025), "");
  EXPECT_EQ(refusal({{"every", std::int64_t{2}}}, 2048), "");
  EXPECT_NE(refusal({{"every", std::int64_t{2}}}, 2049).find("/p/pairs"), std::string::npos);
  EXPECT_NE(refusal({{"every", std::int64_t{8}}}, 8).find("/p/every"), std::string::npos);
  EXPECT_NE(refusal({{"every", std::int64_t{2}}, {"pairs", "sampled"}}, 8).find("/p/every"), std::string::npos);
  const Values much{{"traffic", "one-way"}, {"message_bytes", std::int64_t{1} << 30}, {"loops", std::int64_t{2}}};
  EXPECT_NE(refusal(much, 2).find("/p/loops"), std::string::npos);
}

/// Two ranks on a node, the last perhaps alone.
TEST(MpiPingPongPhase, BetweenNodesTheLowestRankOfEachIsAnEnd) {
  const int rank = mpi::Comm::world().rank();
  const int ranks = mpi::Comm::world().size();
  const int nodes = (ranks + 1) / 2;
  if (nodes < 2) GTEST_SKIP() << "too few ranks";
  const mpi::World world("host" + std::to_string(rank / 2));
  mpi::CommonClock clock;
  Meter meter(StopFlags::instance().now());
  Watchdog watchdog({});
  WorkloadContext context;
  context.world = &world;
  PingPongParameters parameters;
  parameters.between = PairEnds::nodes;
  parameters.at_once = true;
  PingPongPhase phase(parameters, context);
  Json record;
  ASSERT_EQ(run_phase({&world, &clock, &watchdog, &meter, {}, 0}, nullptr, phase, record).status, PhaseStatus::ok);
  if (rank != 0) return;
  EXPECT_EQ(record["facts"]["ends"].size(), static_cast<std::size_t>(nodes));
  EXPECT_EQ(record["facts"]["ends"].back(),
            "node" + std::to_string(nodes - 1) + ":rank" + std::to_string(2 * nodes - 2));
  EXPECT_EQ(record["facts"]["hosts"].back(), "host" + std::to_string(nodes - 1));
  EXPECT_EQ(record["facts"]["one_way_s"].size(), static_cast<std::size_t>(nodes * (nodes - 1)));
}

TEST(PingPongPhase, BeforeItHasBegunItHasNothingToDo) {
  const mpi::World world;
  WorkloadContext context;
  context.world = &world;
  const PingPongPhase phase({}, context);
  EXPECT_EQ(phase.operations(), 0U);
  EXPECT_EQ(phase.gauges().at("pairs"), 0);
  EXPECT_TRUE(phase.info().collective);
}

}  // namespace
}  // namespace ullage::ping_pong_test
