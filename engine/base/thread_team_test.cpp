// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <array>
#include <chrono>

#include "base/test_support.hpp"

namespace ullage::thread_team_test {

TEST(ThreadTeam, EveryThreadWorksOnceATaskOnItsCpu) {
  const std::vector<int> cpus = choose_cpus(allowed_cpus(), 0, 3);
  ThreadTeam team(cpus);
  ASSERT_TRUE(team.start());
  std::array<int, 3> worked{};
  std::array<int, 3> ran_on{};
  std::array<int, 3> around{};
  for (int task = 0; task < 5; ++task)
    (void)team.run({[&](std::size_t thread) {
                      ++worked.at(thread);
                      ran_on.at(thread) = sched_getcpu();
                    },
                    [&](std::size_t thread) { ++around.at(thread); }});
  EXPECT_EQ(worked, (std::array<int, 3>{5, 5, 5}));
  EXPECT_EQ(around, (std::array<int, 3>{10, 10, 10}));
  EXPECT_EQ(team.unpinned(), 0U);
  EXPECT_EQ(std::vector<int>(ran_on.begin(), ran_on.end()), cpus);
}

/// A thread that loses its core has a longer span, so one time of many is enough for the short one; spans that last as
/// long as the longest body would never show it.
TEST(ThreadTeam, SpansLastAsLongAsTheBodies) {
  ThreadTeam team(choose_cpus(allowed_cpus(), 0, 2));
  ASSERT_TRUE(team.start());
  bool is_short = false;
  for (int time = 0; time < 100 && !is_short; ++time) {
    const auto spans = team.run({[](std::size_t thread) {
                                   if (thread == 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                 },
                                 {}});
    ASSERT_EQ(spans.size(), 2U);
    EXPECT_GE(spans[1].stop_ns - spans[1].start_ns, 5'000'000);
    is_short = spans[0].stop_ns - spans[0].start_ns < 5'000'000;
  }
  EXPECT_TRUE(is_short);
}

TEST(ThreadTeam, WhereOneDoesNotStartThereIsNone) {
  ThreadTeam team(choose_cpus(allowed_cpus(), 0, 4));
  const test::FewThreads few(2);
  EXPECT_EQ(team.start().error().errno_value, EAGAIN);
}

/// Wherever it leaves one of them, the others are not waited for in vain, and the team goes on.
TEST(ThreadTeam, AnExceptionIsAnErrorAndTheTaskEnds) {
  const auto throws = [](std::size_t thread) {
    if (thread == 1) throw std::bad_alloc();
  };
  for (const bool in_body : {false, true}) {
    ThreadTeam team(choose_cpus(allowed_cpus(), 0, 3));
    ASSERT_TRUE(team.start());
    std::atomic<int> worked = 0;
    (void)team.run({[&](std::size_t thread) {
                      ++worked;
                      if (in_body) throws(thread);
                    },
                    [&](std::size_t thread) {
                      if (!in_body) throws(thread);
                    }});
    EXPECT_EQ(worked, 3);
    ASSERT_FALSE(team.status());
    EXPECT_EQ(team.status().error().errno_value, ENOMEM);
    (void)team.run({[&](std::size_t) { ++worked; }, {}});
    EXPECT_EQ(worked, 6);
  }
}

}  // namespace ullage::thread_team_test
