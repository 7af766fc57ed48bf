// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/helper_clock.hpp"

#include <gtest/gtest.h>

namespace ullage::helper_clock_test {
namespace {

TEST(HelperClock, GoesOnAndCountsFromWhereItIsTold) {
  HelperClock clock;
  const std::int64_t before = clock.now_ns();
  Meter& meter = clock.meter_from(before);
  EXPECT_EQ(meter.last_ns(), before);
  EXPECT_TRUE(meter.completed(7)) << "nobody stops it";
  EXPECT_EQ(meter.bytes(), 7U);
  EXPECT_GE(clock.now_ns(), before);
}

}  // namespace
}  // namespace ullage::helper_clock_test
