// SPDX-License-Identifier: Apache-2.0
#include "storage/model_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace ullage::model_device_test {

std::vector<double> durations(ModelDevice device, std::size_t count) {
  std::vector<double> out(count);
  std::ranges::generate(out, [&] { return device.next_duration_ns(1000); });
  return out;
}

TEST(ModelDevice, LatencyPlusAFairShareOfTheBandwidth) {
  const ModelParameters parameters{2e9, 10e-6, 0, 1};
  EXPECT_DOUBLE_EQ(ModelDevice(parameters, 1, 0, 0).next_duration_ns(2000), 11'000);
  EXPECT_DOUBLE_EQ(ModelDevice(parameters, 4, 3, 0).next_duration_ns(2000), 14'000);
  EXPECT_DOUBLE_EQ(ModelDevice(parameters, 4, 3, 0).next_duration_ns(0), 10'000);
}

TEST(ModelDevice, JitterIsEvenInItsBandAndOfMeanZero) {
  const auto drawn = durations(ModelDevice({1e9, 0, 0.3, 1}, 1, 0, 0), 100'000);
  double sum = 0;
  for (const double duration : drawn) {
    EXPECT_GE(duration, 700);
    EXPECT_LE(duration, 1300);
    sum += duration;
  }
  EXPECT_NEAR(sum / 100'000, 1000, 3);  // five standard errors
  EXPECT_LT(std::ranges::min(drawn), 701);
  EXPECT_GT(std::ranges::max(drawn), 1299);
}

TEST(ModelDevice, DrawsFollowFromSeedRankAndRepetition) {
  const ModelParameters parameters{1e9, 0, 0.3, 1};
  ModelParameters reseeded = parameters;
  reseeded.seed = 2;
  const auto reference = durations({parameters, 2, 0, 7}, 10);
  EXPECT_EQ(reference, durations({parameters, 2, 0, 7}, 10));
  EXPECT_NE(reference, durations({reseeded, 2, 0, 7}, 10));
  EXPECT_NE(reference, durations({parameters, 2, 1, 7}, 10));
  EXPECT_NE(reference, durations({parameters, 2, 0, 8}, 10));
}

TEST(ModelTimeline, FractionsAddUpExactly) {
  ModelTimeline timeline;
  timeline.restart(1'000'000'000'000'000);
  std::int64_t moment = 0;
  for (int i = 0; i < 1'000'000; ++i) moment = timeline.after(0.1);
  EXPECT_EQ(moment, 1'000'000'000'000'000 + 100'000);
  timeline.restart(5);
  EXPECT_EQ(timeline.after(2), 7);
}

}  // namespace ullage::model_device_test
