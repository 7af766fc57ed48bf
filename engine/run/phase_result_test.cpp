// SPDX-License-Identifier: Apache-2.0
#include "run/phase_result.hpp"

#include <gtest/gtest.h>

namespace ullage::phase_result_test {

TEST(MpiPhaseResult, FailuresAreThoseOfTheLowestRanksInOrder) {
  const mpi::World world;
  const bool fails = world.rank() % 2 == 1 || world.size() == 1;
  const auto mine =
      fails ? std::optional(errno_error(ENOSPC, "write", "/x" + std::to_string(world.rank()), 512)) : std::nullopt;
  const Json failures = gather_failures(world, mine);
  if (!world.root()) return;
  ASSERT_EQ(failures.size(), static_cast<std::size_t>(std::max(1, world.size() / 2)));
  int last = -1;
  for (const Json& failure : failures) {
    const int rank = failure["rank"];
    EXPECT_GT(rank, last);
    EXPECT_EQ(failure["path"], "/x" + std::to_string(rank));
    EXPECT_EQ(failure["errno"], ENOSPC);
    EXPECT_EQ(failure["offset_bytes"], 512);
    last = rank;
  }
}

TEST(MpiPhaseResult, NoErrorIsNoFailure) {
  const mpi::World world;
  EXPECT_TRUE(gather_failures(world, std::nullopt).empty());
}

TEST(MpiPhaseResult, ElapsedRunsFromTheFirstStartToTheLastStop) {
  const mpi::World world;
  const auto meter = std::make_unique<Meter>();
  meter->start(now_ns());
  RankResult result;
  const std::int64_t late = 10 * world.rank();
  for (auto& stage : result.stages) stage = {100 + late, 200 + late};
  result.stages[stage_close].stop_ns = 300 + late;
  Json record;
  const std::int64_t elapsed = reduce_phase(world, result, PhaseInfo{}, *meter, record);
  EXPECT_EQ(elapsed, 200 + 10 * (world.size() - 1)) << "every rank is told";
  if (!world.root()) return;
  EXPECT_EQ(record["start_ns"], 100);
  EXPECT_EQ(record["stages"]["close"]["longest_ns"], 200);
  EXPECT_FALSE(record["stages"].contains("sync")) << "no rank had one of its own";
  EXPECT_EQ(record["by_rank"]["slowest"][0]["elapsed_ns"], 200);
}

TEST(MpiPhaseResult, RanksHaveALeastAMeanAndAMost) {
  const mpi::World world;
  const auto meter = std::make_unique<Meter>();
  meter->start(now_ns());
  RankResult result;
  for (auto& stage : result.stages) stage = {100, 200};
  result.stages[stage_close].stop_ns = 300 + 60 * world.rank();
  Json record;
  (void)reduce_phase(world, result, PhaseInfo{}, *meter, record);
  if (!world.root()) return;
  EXPECT_EQ(record["by_rank"]["fastest"]["elapsed_ns"], 200);
  EXPECT_EQ(record["by_rank"]["mean_ns"], 200 + 30 * (world.size() - 1));
  EXPECT_EQ(record["by_rank"]["slowest"][0]["elapsed_ns"], 200 + 60 * (world.size() - 1));
}

/// The ranks begin two intervals after one another, and each moves 64 bytes in its first one.
TEST(MpiPhaseResult, SeriesAreAddedByTheCommonClock) {
  constexpr std::int64_t interval = TimeSeries::smallest_interval_ns;
  const mpi::World world;
  const auto meter = std::make_unique<Meter>();
  RankResult result;
  const std::int64_t ahead = std::int64_t{1'000'000'000} * (1 + world.rank());  // no rank's own clock says anything
  result.clock = mpi::ClockLine({-ahead, 0, 0}, 0);
  const std::int64_t opened = 2 * interval * world.rank();
  for (auto& stage : result.stages) stage = {opened, opened + interval};
  meter->start(opened + ahead);
  meter->series().add(opened + ahead + interval / 2, 64, 1);
  Json record;
  (void)reduce_phase(world, result, PhaseInfo{}, *meter, record);
  if (!world.root()) return;
  std::vector<std::uint64_t> expected(2 * static_cast<std::size_t>(world.size()) - 1, 0);
  for (std::size_t i = 0; i < expected.size(); i += 2) expected[i] = 64;
  EXPECT_EQ(record["series"]["interval_ns"], interval);
  EXPECT_EQ(record["series"]["bytes"].get<std::vector<std::uint64_t>>(), expected);
}

}  // namespace ullage::phase_result_test
