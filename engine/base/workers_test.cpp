// SPDX-License-Identifier: Apache-2.0
#include "base/workers.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <stdexcept>

#include "base/test_support.hpp"

namespace ullage::workers_test {

std::int64_t soon_ns() { return now_ns() + 60'000'000'000; }

TEST(Workers, EachRunsItsBodyOnce) {
  std::vector<std::atomic<int>> runs(7);
  Workers workers;
  ASSERT_TRUE(workers.start(runs.size(), [&](std::size_t thread) {
    ++runs.at(thread);
    return Status{};
  }));
  EXPECT_EQ(workers.size(), runs.size());
  EXPECT_TRUE(workers.ended_by(soon_ns()));
  EXPECT_TRUE(workers.join());
  for (const auto& times : runs) EXPECT_EQ(times, 1);
}

/// Whichever of them it is: those before it have not begun, and the end comes.
TEST(Workers, WhereOneDoesNotStartNoneHasRun) {
  constexpr std::size_t count = 5;
  for (std::size_t given = 0; given < count; ++given) {
    std::atomic<int> runs = 0;
    std::atomic<int> dismissals = 0;
    Workers workers;
    const test::FewThreads few(given);
    const Status started = workers.start(
        count,
        [&](std::size_t) {
          ++runs;
          return Status{};
        },
        [&] { ++dismissals; });
    ASSERT_FALSE(started);
    EXPECT_EQ(to_line(started.error()), "start threads: Resource temporarily unavailable (errno 11)");
    EXPECT_EQ(workers.size(), 0U);
    EXPECT_EQ(runs + dismissals, 0);
  }
}

TEST(Workers, TheFirstErrorIsKeptAndEndsTheOthers) {
  std::atomic<bool> leave = false;
  std::atomic<int> dismissals = 0;
  Workers workers;
  ASSERT_TRUE(workers.start(
      3,
      [&](std::size_t thread) -> Status {
        if (thread == 1) return fail(errno_error(EIO, "read", "x"));
        while (!leave) std::this_thread::yield();
        return fail(errno_error(ECANCELED, "read", "x"));
      },
      [&] {
        ++dismissals;
        leave = true;
      }));
  const Status ended = workers.join();
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().errno_value, EIO);
  EXPECT_EQ(dismissals, 1);
}

TEST(Workers, ExceptionsAreErrors) {
  Workers short_of_memory;
  ASSERT_TRUE(short_of_memory.start(2, [](std::size_t) -> Status { throw std::bad_alloc(); }));
  EXPECT_EQ(short_of_memory.join().error().errno_value, ENOMEM);
  Workers others;
  ASSERT_TRUE(others.start(1, [](std::size_t) -> Status { throw std::out_of_range("too far"); }));
  EXPECT_NE(to_line(others.join().error()).find("too far"), std::string::npos);
}

TEST(Workers, ThoseThatArePreparedWaitUntilTheyMayGo) {
  std::atomic<int> runs = 0;
  std::atomic<int> dismissals = 0;
  const auto body = [&](std::size_t) {
    ++runs;
    return Status{};
  };
  {
    Workers never;
    ASSERT_TRUE(never.prepare(3, body, [&] { ++dismissals; }));
    EXPECT_FALSE(never.ended_by(now_ns() + 1'000'000));
  }
  EXPECT_EQ(runs + dismissals, 0);
  Workers workers;
  ASSERT_TRUE(workers.prepare(3, body));
  EXPECT_EQ(runs, 0);
  workers.go();
  EXPECT_TRUE(workers.join());
  EXPECT_EQ(runs, 3);
}

TEST(Workers, WhoeverGoesAwayDismissesThem) {
  std::atomic<bool> leave = false;
  Workers workers;
  ASSERT_TRUE(workers.start(
      2,
      [&](std::size_t) {
        while (!leave) std::this_thread::yield();
        return Status{};
      },
      [&] { leave = true; }));
}

}  // namespace ullage::workers_test
