// SPDX-License-Identifier: Apache-2.0
#include "base/helper_threads.hpp"

#include <gtest/gtest.h>

#include "base/test_support.hpp"

namespace ullage::helper_threads_test {
namespace {

struct Nothing {};
using Helpers = HelperThreads<Result<std::uint64_t>, Nothing>;

void nobody_asks() {}

TEST(HelperThreads, EveryOperationIsDoneOnceAndInItsSlot) {
  constexpr std::uint64_t operations = 500;
  constexpr std::size_t slots = 7;
  for (const std::size_t threads : {1U, 4U}) {
    std::vector<std::uint64_t> of_slot(slots);  // what a job writes the caller reads after wait()
    Helpers helpers(slots, [&](std::uint64_t operation, Nothing&) -> Helpers::Outcome {
      of_slot[operation % slots] = operation;
      return operation;
    });
    ASSERT_TRUE(helpers.start(threads));
    EXPECT_FALSE(helpers.wait(0, nobody_asks).has_value()) << "idle";
    for (std::uint64_t i = 0; i < operations + slots; ++i) {
      if (const auto outcome = helpers.wait(i, nobody_asks)) {
        ASSERT_TRUE(outcome->has_value());
        EXPECT_EQ(**outcome, i - slots);
        EXPECT_EQ(of_slot[i % slots], i - slots);
      }
      if (i < operations) helpers.submit(i);
    }
  }
}

TEST(HelperThreads, OneThreadBeginsInOrder) {
  std::vector<std::uint64_t> begun;
  Helpers helpers(10, [&](std::uint64_t operation, Nothing&) -> Helpers::Outcome {
    begun.push_back(operation);
    return 0;
  });
  ASSERT_TRUE(helpers.start(1));
  for (const std::uint64_t operation : {4U, 2U, 9U}) helpers.submit(operation);
  for (const std::uint64_t operation : {4U, 2U, 9U}) EXPECT_TRUE(helpers.wait(operation, nobody_asks)->has_value());
  EXPECT_EQ(begun, (std::vector<std::uint64_t>{4, 2, 9}));
}

TEST(HelperThreads, AnErrorComesBackWithItsOperation) {
  Helpers helpers(4, [](std::uint64_t operation, Nothing&) -> Helpers::Outcome {
    if (operation == 2) return fail(errno_error(28, "write", "file"));
    return 0;
  });
  ASSERT_TRUE(helpers.start(2));
  helpers.submit(0, 4);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(helpers.wait(i, nobody_asks)->has_value(), i != 2);
}

TEST(HelperThreads, TheEndBeginsNoFurtherJob) {
  std::atomic<int> begun = 0;
  {
    std::atomic<bool> may_end = false;
    Helpers helpers(8, [&](std::uint64_t, Nothing&) -> Helpers::Outcome {
      ++begun;
      while (!may_end) std::this_thread::yield();
      return 0;
    });
    ASSERT_TRUE(helpers.start(1));
    for (std::uint64_t i = 0; i < 8; ++i) helpers.submit(i);
    while (begun == 0) std::this_thread::yield();
    may_end = true;
    EXPECT_TRUE(helpers.wait(0, nobody_asks)->has_value());
  }
  EXPECT_GE(begun, 1);
  EXPECT_LE(begun, 8);
}

TEST(HelperThreads, WhoWaitsLongIsAsked) {
  std::atomic<bool> asked = false;
  Helpers helpers(1, [&](std::uint64_t, Nothing&) -> Helpers::Outcome {
    while (!asked) std::this_thread::yield();
    return 0;
  });
  ASSERT_TRUE(helpers.start(1));
  helpers.submit(0);
  EXPECT_TRUE(helpers.wait(0, [&] { asked = true; })->has_value());
}

TEST(HelperThreads, WhereOneDoesNotStartThereAreNone) {
  Helpers helpers(4, [](std::uint64_t operation, Nothing&) -> Helpers::Outcome { return operation; });
  const test::FewThreads few(3);
  EXPECT_EQ(helpers.start(4).error().errno_value, EAGAIN);
}

TEST(HelperThreads, AnExceptionIsTheOutcomeOfItsOperation) {
  Helpers helpers(2, [](std::uint64_t operation, Nothing&) -> Helpers::Outcome {
    if (operation == 0) throw std::bad_alloc();
    return operation;
  });
  ASSERT_TRUE(helpers.start(1));
  helpers.submit(0, 2);
  EXPECT_EQ(helpers.wait(0, nobody_asks)->error().errno_value, ENOMEM);
  EXPECT_EQ(helpers.wait(1, nobody_asks)->value(), 1U);
}

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

}  // namespace ullage::helper_threads_test
