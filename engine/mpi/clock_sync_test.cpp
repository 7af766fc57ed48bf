// SPDX-License-Identifier: Apache-2.0
#include "mpi/clock_sync.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <vector>

#include "base/clock.hpp"

namespace ullage::mpi::clock_sync_test {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

TEST(ClockSync, ShortestRoundTripDecides) {
  const std::vector<RoundTrip> trips{{0, 1500, 1000}, {2000, 3100, 2100}, {4000, 5900, 4900}};
  const OffsetEstimate estimate = estimate_offset(trips);
  EXPECT_EQ(estimate.offset_ns, 3100 - 2050);
  EXPECT_EQ(estimate.residual_ns, 50);
}

TEST(ClockSync, ErrorStaysWithinTheResidualHoweverDelaysAreSharedOut) {
  EXPECT_TRUE(rc::check([] {
    const auto offset = *rc::gen::inRange<std::int64_t>(-10 * second_ns, 10 * second_ns);
    const auto count = *rc::gen::inRange<std::size_t>(1, 40);
    std::vector<RoundTrip> trips;
    std::int64_t now = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto there = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
      const auto back = *rc::gen::inRange<std::int64_t>(0, 1'000'000);
      trips.push_back({now, now + there + offset, now + there + back});
      now += there + back;
    }
    const OffsetEstimate estimate = estimate_offset(trips);
    RC_ASSERT(std::llabs(estimate.offset_ns - offset) <= estimate.residual_ns);
  }));
}

TEST(MpiClockSync, OneClockIsExact) {
  const World world;
  const ClockSync sync = calibrate_clocks(world);
  EXPECT_EQ(sync.offset_ns, 0);
  EXPECT_EQ(sync.residual_ns, 0);
  EXPECT_EQ(sync.largest_offset_ns, 0);
  EXPECT_EQ(sync.largest_residual_ns, 0);
}

/// Clocks of odd ranks are `ahead` of rank 0's; the true offset is known because all ranks really share one clock.
void expect_calibrated(const World& world, const LocalClock& clock, std::int64_t ahead_ns) {
  const ClockSync sync = calibrate_clocks(world, clock);
  EXPECT_LE(std::llabs(sync.offset_ns + ahead_ns), sync.residual_ns);
  EXPECT_LE(sync.residual_ns, sync.largest_residual_ns);
  if (ahead_ns == 0) {
    EXPECT_EQ(sync.offset_ns, 0);
  }
  if (world.size() == 1) return;
  EXPECT_GT(sync.largest_residual_ns, 0);
  EXPECT_EQ(world.all().broadcast(sync.offset_ns, sync.largest_offset_rank), sync.largest_offset_ns);
  EXPECT_GE(std::llabs(sync.largest_offset_ns), std::llabs(sync.offset_ns));
}

LocalClock shifted(std::int64_t identity, std::int64_t ahead_ns) {
  return {identity, [ahead_ns] { return now_ns() + ahead_ns; }};
}

TEST(MpiClockSync, RanksOfOneNodeWithAClockOfTheirOwn) {
  const World world;
  const bool odd = world.rank() % 2 == 1;
  const std::int64_t ahead_ns = odd ? 5 * second_ns : 0;
  expect_calibrated(world, shifted(odd ? 2 : 1, ahead_ns), ahead_ns);
}

TEST(MpiClockSync, NodesShareWhatTheirLeaderFound) {
  const bool second_half = Comm::world().rank() >= (Comm::world().size() + 1) / 2;
  const World world(second_half ? "host-b" : "host-a");
  const std::int64_t ahead_ns = second_half ? -3 * second_ns : 0;
  const LocalClock clock = shifted(second_half ? 8 : 7, ahead_ns);
  expect_calibrated(world, clock, ahead_ns);
  const ClockSync sync = calibrate_clocks(world, clock);
  EXPECT_EQ(world.node().min(sync.offset_ns), world.node().max(sync.offset_ns));
}

}  // namespace
}  // namespace ullage::mpi::clock_sync_test
