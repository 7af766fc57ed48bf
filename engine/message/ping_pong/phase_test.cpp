// SPDX-License-Identifier: Apache-2.0
#include "message/ping_pong/phase.hpp"

#include <gtest/gtest.h>

#include <string>

#include "base/signals.hpp"
#include "run/phase_runner.hpp"

namespace ullage::ping_pong_phase_test {
namespace {

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
}  // namespace ullage::ping_pong_phase_test
