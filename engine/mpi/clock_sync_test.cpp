// SPDX-License-Identifier: Apache-2.0
#include "mpi/clock_sync.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>
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

namespace ullage::mpi::clock_line_test {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t span_ns = 600 * second_ns;
constexpr std::int64_t begin_ns = 40'000 * second_ns;  // hours after boot

/// The true offset by the time since the first measurement.
using Truth = std::function<double(double)>;

OffsetEstimate measured(const Truth& truth, std::int64_t since_ns, std::int64_t error_ns, std::int64_t residual_ns) {
  return {std::llround(truth(static_cast<double>(since_ns))) + error_ns, residual_ns, begin_ns + since_ns};
}

ClockLine around(const Truth& truth) { return {measured(truth, 0, 300, 500), measured(truth, span_ns, -400, 500)}; }

/// Checks by how much the line is wrong at most, in ten thousand places, and whether the residual always says so.
void expect_within_residual(const ClockLine& line, const Truth& truth) {
  for (int i = 0; i <= 10'000; ++i) {
    const std::int64_t since_ns = span_ns / 10'000 * i;
    const std::int64_t local_ns = begin_ns + since_ns;
    const auto right = static_cast<double>(local_ns) + truth(static_cast<double>(since_ns));
    const double wrong = std::abs(static_cast<double>(line.to_root(local_ns)) - right);
    ASSERT_LE(wrong, static_cast<double>(line.residual_ns(local_ns)) + 2) << "after " << since_ns << " ns";
  }
}

TEST(ClockLine, OneClockIsExact) {
  const ClockLine line;
  EXPECT_EQ(line.to_root(begin_ns), begin_ns);
  EXPECT_EQ(line.to_local(begin_ns), begin_ns);
  EXPECT_EQ(line.residual_ns(begin_ns), 0);
}

TEST(ClockLine, ResidualOfOneMeasurementGrowsByDriftTimesAge) {
  const ClockLine line({7'000, 500, begin_ns}, 10e-6);
  EXPECT_EQ(line.to_root(begin_ns + 3 * second_ns), begin_ns + 3 * second_ns + 7'000);
  EXPECT_EQ(line.residual_ns(begin_ns), 500);
  EXPECT_EQ(line.residual_ns(begin_ns + 2 * second_ns), 500 + 20'000);
  EXPECT_EQ(line.residual_ns(begin_ns - 2 * second_ns), 500 + 20'000);
  const Truth fastest = [](double since) { return 7'000 + 10e-6 * since; };
  expect_within_residual(ClockLine(measured(fastest, 0, 500, 500), 10e-6), fastest);
}

TEST(ClockLine, SteadyDriftIsInterpolated) {
  const Truth steady = [](double since) { return -2e9 + 30e-6 * since; };  // 18 ms in ten minutes
  const ClockLine line = around(steady);
  EXPECT_NEAR(line.drift(), 30e-6, 1e-8);
  EXPECT_FALSE(line.has_jumped());
  expect_within_residual(line, steady);
  const std::int64_t middle_ns = begin_ns + span_ns / 2;
  EXPECT_NEAR(static_cast<double>(line.to_root(middle_ns) - middle_ns), -2e9 + 9e6, 500);
  EXPECT_NEAR(static_cast<double>(line.residual_ns(middle_ns)), 9e6, 1e4) << "nobody has looked for five minutes";
  EXPECT_NEAR(static_cast<double>(line.residual_ns(begin_ns + second_ns)), 30'500, 10);
}

TEST(ClockLine, RateThatStepsStaysWithinTheResidual) {
  for (const double when : {0.1, 0.5, 0.9})
    for (const double early : {0.0, 1.0, 1.7}) {
      // Its mean is 10 ppm: `early` times that until then, the rest after it; no rate beyond twice the mean.
      const double late = (1 - early * when) / (1 - when);
      if (late < 0 || late > 2) continue;
      const double step = when * static_cast<double>(span_ns);
      const Truth steps = [=](double since) {
        return 10e-6 * (early * std::min(since, step) + late * std::max(since - step, 0.0));
      };
      expect_within_residual(around(steps), steps);
    }
}

TEST(ClockLine, JumpIsSeenAndCountsWhole) {
  for (const double when : {0.01, 0.3, 0.99})
    for (const double by : {2e9, -5e9}) {
      const Truth jump = [=](double since) { return since < when * static_cast<double>(span_ns) ? 0 : by; };
      const ClockLine line = around(jump);
      EXPECT_TRUE(line.has_jumped());
      EXPECT_GE(static_cast<double>(line.residual_ns(begin_ns + span_ns / 2)), std::abs(by) - 1000)
          << "errors of 700 ns";
      expect_within_residual(line, jump);
    }
}

TEST(ClockLine, BackFromRootIsTheInverse) {
  EXPECT_TRUE(rc::check([] {
    const auto offset = *rc::gen::inRange<std::int64_t>(-10'000 * second_ns, 10'000 * second_ns);
    const auto change = *rc::gen::inRange<std::int64_t>(-span_ns / 10'000, span_ns / 10'000);
    const auto since = *rc::gen::inRange<std::int64_t>(-second_ns, span_ns + second_ns);
    const ClockLine line({offset, 10, begin_ns}, {offset + change, 10, begin_ns + span_ns});
    RC_ASSERT(std::llabs(line.to_local(line.to_root(begin_ns + since)) - (begin_ns + since)) <= 1);
  }));
}

}  // namespace
}  // namespace ullage::mpi::clock_line_test

namespace ullage::mpi::common_clock_test {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr CommonClock::Ages always{-1, -1, 0};
constexpr CommonClock::Ages seldom{second_ns * 3600, second_ns * 3600, 0};

/// Clocks of odd ranks are 5 s ahead of rank 0's and 200 ppm faster; all ranks really share one, so the truth is known.
struct Model {
  explicit Model(int rank) : odd(rank % 2 == 1) {}
  [[nodiscard]] std::int64_t local_ns(std::int64_t root_ns) const {
    return odd ? root_ns + 5 * second_ns + (root_ns - begun_ns) / 5000 : root_ns;
  }
  [[nodiscard]] LocalClock clock() const {
    return {odd ? 2 : 1, [model = *this] { return model.local_ns(now_ns()); }};
  }
  bool odd;
  std::int64_t begun_ns = now_ns();
};

TEST(MpiCommonClock, OneClockIsNeverMeasuredAgain) {
  const World world;
  CommonClock common(world, local_clock(), always);
  EXPECT_FALSE(common.several_clocks());
  common.before_phase();
  const CommonClock::Around around = common.after_phase();
  EXPECT_FALSE(around.both_sides);
  EXPECT_EQ(around.line.residual_ns(now_ns() + 3600 * second_ns), 0);
}

TEST(MpiCommonClock, LongPhaseIsMeasuredOnBothSidesAndInterpolated) {
  const World world;
  const Model model(world.rank());
  CommonClock common(world, model.clock(), always);
  common.before_phase();
  const std::int64_t middle_ns = now_ns() + 100'000'000;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const CommonClock::Around around = common.after_phase();
  EXPECT_EQ(around.both_sides, world.size() > 1);
  const std::int64_t local_ns = model.local_ns(middle_ns);
  const std::int64_t residual_ns = around.line.residual_ns(local_ns);
  EXPECT_LE(std::llabs(around.line.to_root(local_ns) - middle_ns), residual_ns + 1);
  EXPECT_EQ(residual_ns > 0, model.odd) << "rank 0's clock is exact on every rank that reads it";
}

TEST(MpiCommonClock, ShortPhaseRestsOnTheMeasurementBeforeItAndSaysWhatDriftMayMake) {
  const World world;
  const Model model(world.rank());
  CommonClock common(world, model.clock(), seldom);
  common.before_phase();
  const std::int64_t measured_ns = common.sync().measured_ns;
  const CommonClock::Around around = common.after_phase();
  EXPECT_FALSE(around.both_sides);
  EXPECT_EQ(common.sync().measured_ns, measured_ns);
  const std::int64_t fresh_ns = around.line.residual_ns(measured_ns);
  const std::int64_t old_ns = around.line.residual_ns(measured_ns + 10 * second_ns);
  EXPECT_EQ(old_ns - fresh_ns, model.odd ? 1'000'000 : 0) << "100 ppm are assumed until drift was measured";
}

}  // namespace
}  // namespace ullage::mpi::common_clock_test
