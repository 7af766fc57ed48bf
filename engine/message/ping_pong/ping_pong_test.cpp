// SPDX-License-Identifier: Apache-2.0
// Workload `ping-pong` as a plan has it.
#include "message/ping_pong/ping_pong.hpp"

#include <gtest/gtest.h>

#include "run/test_support.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::ping_pong_test {

std::string refusal(const Values& given, int ranks) { return test::Launch::refusal("ping-pong", given, ranks); }

Values few(Values given) {
  given.try_emplace("loops", 2);
  given.try_emplace("measurements", 1);
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
      const Values given = few({{"at_once", at_once}, {"traffic", traffic}, {"message_bytes", 3000}});
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
    const Values given = few({{"every", 2}, {"at_once", at_once}});
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
  EXPECT_EQ(refusal({{"every", 2}}, 2048), "");
  EXPECT_NE(refusal({{"every", 2}}, 2049).find("/p/pairs"), std::string::npos);
  EXPECT_NE(refusal({{"every", 8}}, 8).find("/p/every"), std::string::npos);
  EXPECT_NE(refusal({{"every", 2}, {"pairs", "sampled"}}, 8).find("/p/every"), std::string::npos);
  const Values much{{"traffic", "one-way"}, {"message_bytes", 1 << 30}, {"loops", 2}};
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

}  // namespace ullage::ping_pong_test

namespace ullage::pair_table_test {

/// Row `index` of a part of the table that begins at `start`.
template <class Row>
Row row_of(const std::string& table, std::size_t start, std::size_t index) {
  Row row;
  std::memcpy(&row, table.data() + start + index * sizeof(Row), sizeof(Row));
  return row;
}

class MpiPairTable : public ::testing::Test {
 protected:
  /// An end has so many times as it has the number, the first of all none.
  [[nodiscard]] std::vector<PairTime> own_times() const {
    std::vector<PairTime> times;
    for (int i = 0; i < world_.rank(); ++i) times.push_back({world_.rank(), i, 1e-6 * world_.rank() + i});
    return times;
  }

  mpi::World world_;
  test::SharedFolder folder_{world_};
  const std::string path_ = folder_.path() + "/r.ndjson.case.0.pairs";
};

TEST_F(MpiPairTable, EachEndWritesItsRowsBehindThoseBeforeIt) {
  const PairEnd mine = pair_end(world_.rank(), 7, "host" + std::to_string(world_.rank()));
  ASSERT_TRUE(write_pair_table(world_.all(), path_, 1, mine, own_times()));
  const std::string table = test::read_file(path_);
  const auto ends = static_cast<std::size_t>(world_.size());
  const std::size_t pairs = ends * (ends - 1) / 2;
  ASSERT_EQ(table.size(), ends * sizeof(PairEnd) + pairs * sizeof(PairTime));
  std::size_t row = 0;
  for (int end = 0; end < world_.size(); ++end) {
    const auto found = row_of<PairEnd>(table, 0, static_cast<std::size_t>(end));
    EXPECT_EQ(found.rank, end);
    EXPECT_EQ(found.node, 7);
    EXPECT_STREQ(found.host.data(), ("host" + std::to_string(end)).c_str());
    for (int i = 0; i < end; ++i, ++row) {
      const auto time = row_of<PairTime>(table, ends * sizeof(PairEnd), row);
      EXPECT_EQ(time.client, end);
      EXPECT_EQ(time.server, i);
      EXPECT_DOUBLE_EQ(time.one_way_s, 1e-6 * end + i);
    }
  }
}

TEST_F(MpiPairTable, OfEndsThatTakePartAloneAndInPlaceOfAnEarlierOne) {
  if (world_.root()) test::write_file(path_, std::string(1 << 16, 'x'));
  world_.all().barrier();
  constexpr int stride = 2;
  const bool takes_part = world_.rank() % stride == 0;
  const std::vector<PairTime> times(takes_part ? 1 : 0, PairTime{world_.rank(), 0, 1});
  ASSERT_TRUE(write_pair_table(world_.all(), path_, stride, pair_end(world_.rank(), 0, "h"), times));
  const auto chosen = static_cast<std::size_t>((world_.size() + 1) / stride);
  const std::string table = test::read_file(path_);
  ASSERT_EQ(table.size(), chosen * (sizeof(PairEnd) + sizeof(PairTime)));
  EXPECT_EQ(row_of<PairEnd>(table, 0, chosen - 1).rank, static_cast<int>(chosen - 1) * stride);
}

TEST_F(MpiPairTable, WhatCannotBeMadeIsAnErrorOfAllRanks) {
  const std::string nowhere = folder_.path() + "/missing/r.pairs";
  const Status status = write_pair_table(world_.all(), nowhere, 1, pair_end(world_.rank(), 0, "h"), own_times());
  ASSERT_FALSE(status);
  EXPECT_NE(to_line(status.error()).find("missing"), std::string::npos);
}

TEST(PairTable, AHostsNameIsCutToItsPlace) {
  const PairEnd end = pair_end(1, 2, std::string(100, 'h'));
  EXPECT_EQ(end.host.back(), 'h');
  EXPECT_EQ(pair_end(1, 2, "n").host[1], '\0');
}

}  // namespace ullage::pair_table_test
