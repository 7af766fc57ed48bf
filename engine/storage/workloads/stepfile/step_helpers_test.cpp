// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_helpers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace ullage::step_helpers_test {
namespace {

void nobody_asks() {}

TEST(StepHelpers, EveryOperationIsDoneOnceAndInItsSlot) {
  constexpr std::uint64_t operations = 500;
  constexpr std::size_t slots = 7;
  for (const std::size_t threads : {1U, 4U}) {
    std::vector<std::uint64_t> of_slot(slots);  // what a job writes the caller reads after wait()
    StepHelpers helpers(threads, slots, [&](std::uint64_t operation, HelperClock&) -> StepHelpers::Outcome {
      of_slot[operation % slots] = operation;
      return StepTimes{.transfer_ns = static_cast<std::int64_t>(operation)};
    });
    EXPECT_FALSE(helpers.wait(0, nobody_asks).has_value()) << "idle";
    for (std::uint64_t i = 0; i < operations + slots; ++i) {
      if (const auto outcome = helpers.wait(i, nobody_asks)) {
        ASSERT_TRUE(outcome->has_value());
        EXPECT_EQ((*outcome)->transfer_ns, static_cast<std::int64_t>(i - slots));
        EXPECT_EQ(of_slot[i % slots], i - slots);
      }
      if (i < operations) helpers.submit(i);
    }
  }
}

TEST(StepHelpers, OneThreadBeginsInOrder) {
  std::vector<std::uint64_t> begun;
  StepHelpers helpers(1, 10, [&](std::uint64_t operation, HelperClock&) -> StepHelpers::Outcome {
    begun.push_back(operation);
    return StepTimes{};
  });
  for (const std::uint64_t operation : {4U, 2U, 9U}) helpers.submit(operation);
  for (const std::uint64_t operation : {4U, 2U, 9U}) EXPECT_TRUE(helpers.wait(operation, nobody_asks)->has_value());
  EXPECT_EQ(begun, (std::vector<std::uint64_t>{4, 2, 9}));
}

TEST(StepHelpers, AnErrorComesBackWithItsOperation) {
  StepHelpers helpers(2, 4, [](std::uint64_t operation, HelperClock&) -> StepHelpers::Outcome {
    if (operation == 2) return fail(errno_error(28, "write", "file"));
    return StepTimes{};
  });
  for (std::uint64_t i = 0; i < 4; ++i) helpers.submit(i);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(helpers.wait(i, nobody_asks)->has_value(), i != 2);
}

TEST(StepHelpers, TheEndBeginsNoFurtherJob) {
  std::atomic<int> begun = 0;
  {
    std::atomic<bool> may_end = false;
    StepHelpers helpers(1, 8, [&](std::uint64_t, HelperClock&) -> StepHelpers::Outcome {
      ++begun;
      while (!may_end) std::this_thread::yield();
      return StepTimes{};
    });
    for (std::uint64_t i = 0; i < 8; ++i) helpers.submit(i);
    while (begun == 0) std::this_thread::yield();
    may_end = true;
    EXPECT_TRUE(helpers.wait(0, nobody_asks)->has_value());
  }
  EXPECT_GE(begun, 1);
  EXPECT_LE(begun, 8);
}

TEST(StepHelpers, WhoWaitsLongIsAsked) {
  std::atomic<bool> asked = false;
  StepHelpers helpers(1, 1, [&](std::uint64_t, HelperClock&) -> StepHelpers::Outcome {
    while (!asked) std::this_thread::yield();
    return StepTimes{};
  });
  helpers.submit(0);
  EXPECT_TRUE(helpers.wait(0, [&] { asked = true; })->has_value());
}

}  // namespace
}  // namespace ullage::step_helpers_test
