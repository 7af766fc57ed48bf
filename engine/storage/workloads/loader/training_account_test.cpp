// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/training_account.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>

#include "storage/test_support.hpp"

namespace ullage::training_account_test {

TEST(TrainingAccount, AddsUpWhatAllAcceleratorsDid) {
  test::RunningMeter meter;
  meter->use_parts(TrainingAccount::part_names().size());
  TrainingAccount account(2);
  account.start(*meter, now_ns());
  std::vector<std::jthread> threads;
  for (const double run_s : {2.0, 4.0})
    threads.emplace_back([&account, run_s] {
      account.add({{.open_ns = 1, .read_ns = 2, .close_ns = 3, .bytes = 100, .of_own_node = run_s > 3}});
      EXPECT_TRUE(account.add(TrainingStep{.begun_ns = account.start_ns(), .wait_ns = 5, .late_ns = 7, .bytes = 100}));
      account.end({.compute_s = 1.0, .run_s = run_s});
    });
  EXPECT_TRUE(account.wait_for_all());
  EXPECT_EQ(meter->operations(), 2U);
  EXPECT_EQ(meter->bytes(), 200U);
  EXPECT_EQ(account.samples(), 2U);
  EXPECT_EQ(account.of_own_node(), 1U);
  EXPECT_DOUBLE_EQ(account.sum().compute_s, 2.0);
  EXPECT_DOUBLE_EQ(account.sum().run_s, 6.0);
  EXPECT_DOUBLE_EQ(account.least_use(), 0.25);
  EXPECT_EQ(account.most_late_ns(), 7);
}

TEST(TrainingAccount, OneFailureStopsTheOthersAndIsWhatIsReported) {
  test::RunningMeter meter;
  meter->use_parts(TrainingAccount::part_names().size());
  TrainingAccount account(2);
  account.start(*meter, now_ns());
  account.fail_with(errno_error(EIO, "read", "x"));
  EXPECT_FALSE(account.add(TrainingStep{}));
  account.end({});
  const Status status = account.wait_for_all();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, EIO);
}

TEST(TrainingAccount, AnAcceleratorThatComputesIsAlive) {
  test::RunningMeter meter;
  meter->use_parts(TrainingAccount::part_names().size());
  TrainingAccount account(1);
  account.start(*meter, now_ns());
  account.computes_until(now_ns() + 3'600'000'000'000);
  const std::uint64_t before = meter->progress();
  const std::jthread accelerator([&] {
    while (meter->progress() == before) std::this_thread::yield();
    account.end({});
  });
  EXPECT_TRUE(account.wait_for_all());
  EXPECT_GT(meter->progress(), before);
}

}  // namespace ullage::training_account_test
