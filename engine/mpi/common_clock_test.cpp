// SPDX-License-Identifier: Apache-2.0
#include "mpi/common_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/clock.hpp"

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
