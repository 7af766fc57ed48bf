// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_account.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "storage/test_support.hpp"

namespace ullage::step_account_test {
namespace {

TEST(StepAccount, PartsAreNumberedAsTheyAreNamed) {
  StepAccount account({StepPart::compute, StepPart::transfer, StepPart::exposed}, 10);
  EXPECT_EQ(account.part_names(), (std::vector<std::string>{"compute", "transfer", "exposed"}));
  test::RunningMeter meter;
  meter->use_parts(3);
  account.add(*meter, StepPart::compute, 5);
  account.add(*meter, StepPart::open, 7);
  account.add(*meter, {.open_ns = 1, .transfer_ns = 2, .sync_ns = 3, .close_ns = 4, .remove_ns = 5});
  account.step_done(*meter, 0, 100, 70);
  EXPECT_EQ(meter->parts()[0].sum_ns(), 5U);
  EXPECT_EQ(meter->parts()[1].sum_ns(), 2U);
  EXPECT_EQ(meter->parts()[2].sum_ns(), 30U);
  EXPECT_DOUBLE_EQ(account.compute_s(), 70e-9);
  EXPECT_DOUBLE_EQ(account.exposed_s(), 30e-9);
}

TEST(StepAccount, TimelineHasEveryStepInAnInterval) {
  for (const std::uint64_t steps : {1U, 128U, 129U, 1000U}) {
    StepAccount account({StepPart::exposed}, steps);
    test::RunningMeter meter;
    meter->use_parts(1);
    for (std::uint64_t step = 0; step < steps; ++step) account.step_done(*meter, step, 10, 4);
    const Json timeline = account.timeline();
    EXPECT_EQ(timeline["steps"], steps);
    EXPECT_LE(timeline["compute_ns"].size(), 128U);
    std::uint64_t computed = 0, exposed = 0;
    for (const Json& interval : timeline["compute_ns"]) computed += interval.get<std::uint64_t>();
    for (const Json& interval : timeline["exposed_ns"]) exposed += interval.get<std::uint64_t>();
    EXPECT_EQ(computed, 4 * steps);
    EXPECT_EQ(exposed, 6 * steps);
  }
}

}  // namespace
}  // namespace ullage::step_account_test
