// SPDX-License-Identifier: Apache-2.0
#include "storage/moving_threads.hpp"

#include <gtest/gtest.h>

#include "base/test_support.hpp"
#include "storage/test_support.hpp"

namespace ullage::moving_threads_test {

using test::RunningMeter;

std::vector<Extent> extents_of(std::size_t count) {
  std::vector<Extent> extents(count);
  for (std::size_t i = 0; i < count; ++i) extents[i] = {i * 8, 8, nullptr};
  return extents;
}

TEST(MovingThreads, MoveEveryExtentOnceAndCountIt) {
  for (const std::size_t count : {1U, 2U, 7U}) {
    MovingThreads threads(count);
    ASSERT_TRUE(threads.start());
    EXPECT_EQ(threads.size(), count);
    for (int batch = 0; batch < 3; ++batch) {
      std::vector<std::atomic<int>> moved(1000);
      RunningMeter meter;
      const auto status = threads.run(extents_of(moved.size()), *meter, [&](std::size_t thread, const Extent& extent) {
        EXPECT_LT(thread, count);
        ++moved[static_cast<std::size_t>(extent.offset_bytes) / 8];
        return Status{};
      });
      ASSERT_TRUE(status);
      for (const auto& times : moved) EXPECT_EQ(times, 1);
      EXPECT_EQ(meter->operations(), 1000U);
      EXPECT_EQ(meter->bytes(), 8000U);
      EXPECT_EQ(meter->histogram().operations(), 1000U);
    }
  }
}

/// Would wait for ever if one came after the other.
TEST(MovingThreads, WorkAtTheSameTime) {
  constexpr std::size_t count = 4;
  MovingThreads threads(count);
  ASSERT_TRUE(threads.start());
  std::mutex mutex;
  std::condition_variable all_there;
  std::size_t there = 0;
  RunningMeter meter;
  const auto status = threads.run(extents_of(count), *meter, [&](std::size_t, const Extent&) {
    std::unique_lock lock(mutex);
    ++there;
    all_there.notify_all();
    all_there.wait(lock, [&] { return there == count; });
    return Status{};
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(meter->operations(), count);
}

/// More extents than have memory of their own: at no time do two threads work on the same.
TEST(MovingThreads, HaveMemoryOfTheirOwnWhereExtentsShareIt) {
  constexpr std::size_t count = 4;
  MovingThreads threads(count);
  ASSERT_TRUE(threads.start());
  threads.share_memory(count);
  std::vector<std::byte> memory(count);
  std::vector<std::atomic<int>> users(count);
  std::vector<Extent> extents = extents_of(10'000);
  for (std::size_t i = 0; i < extents.size(); ++i) extents[i].data = &memory[i % count];
  RunningMeter meter;
  const auto status = threads.run(extents, *meter, [&](std::size_t thread, const Extent& extent) {
    std::atomic<int>& user = users[static_cast<std::size_t>(extent.data - memory.data())];
    EXPECT_EQ(extent.data, &memory[thread]);
    EXPECT_EQ(user.fetch_add(1), 0);
    user.fetch_sub(1);
    return Status{};
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(meter->operations(), extents.size());
}

TEST(MovingThreads, BeginNothingAfterAnError) {
  MovingThreads threads(3);
  ASSERT_TRUE(threads.start());
  std::atomic<std::size_t> begun = 0;
  RunningMeter meter;
  const auto status = threads.run(extents_of(100'000), *meter, [&](std::size_t, const Extent& extent) -> Status {
    ++begun;
    if (extent.offset_bytes == 80) return fail(errno_error(ENOSPC, "write", "file", extent.offset_bytes));
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, ENOSPC);
  EXPECT_EQ(status.error().offset_bytes, 80U);
  EXPECT_LT(begun, 100'000U);
  EXPECT_EQ(meter->operations(), begun - 1);
  EXPECT_TRUE(threads.run(extents_of(5), *meter, [](std::size_t, const Extent&) { return Status{}; }));
}

TEST(MovingThreads, StopWhenTheMeterSaysSo) {
  MovingThreads threads(2);
  ASSERT_TRUE(threads.start());
  RunningMeter meter;
  meter->set_deadline(now_ns());
  std::atomic<std::size_t> begun = 0;
  const auto status = threads.run(extents_of(100'000), *meter, [&](std::size_t, const Extent&) {
    ++begun;
    return Status{};
  });
  EXPECT_TRUE(status);
  EXPECT_LT(begun, 100'000U);
  EXPECT_EQ(meter->operations(), begun);
}

TEST(MovingThreads, WhereOneDoesNotStartThereIsNone) {
  MovingThreads threads(5);
  const test::FewThreads few(3);
  EXPECT_EQ(threads.start().error().errno_value, EAGAIN);
  FileThreads made;
  EXPECT_EQ(made.make_ready({.threads = 3}).error().errno_value, EAGAIN);
  EXPECT_EQ(made.threads(), nullptr);
}

TEST(MovingThreads, AnExceptionIsAnErrorOfTheMove) {
  MovingThreads threads(3);
  ASSERT_TRUE(threads.start());
  RunningMeter meter;
  const auto status = threads.run(extents_of(1000), *meter, [](std::size_t, const Extent& extent) -> Status {
    if (extent.offset_bytes == 80) throw std::bad_alloc();
    return {};
  });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().errno_value, ENOMEM);
}

}  // namespace ullage::moving_threads_test
