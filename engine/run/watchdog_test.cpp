// SPDX-License-Identifier: Apache-2.0
#include "run/watchdog.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <future>

namespace ullage::watchdog_test {
namespace {

using namespace std::chrono_literals;

TEST(Watchdog, NamesWhatHangs) {
  std::promise<std::string> hung;
  Watchdog watchdog({.limit_ns = 200'000'000,
                     .stop_file = "",
                     .on_stop_file = {},
                     .on_tick = {},
                     .on_hang = [&](const std::string& what, std::int64_t) { hung.set_value(what); }});
  watchdog.watch("write: sync", nullptr);
  auto future = hung.get_future();
  ASSERT_EQ(future.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(future.get(), "write: sync");
}

TEST(Watchdog, OperationsAreProgressAndRestIsNoHang) {
  std::atomic<int> hangs = 0;
  const std::atomic<bool> stop = false;
  Meter meter(stop);
  meter.start(now_ns());
  Watchdog watchdog({.limit_ns = 400'000'000,
                     .stop_file = "",
                     .on_stop_file = {},
                     .on_tick = {},
                     .on_hang = [&](const std::string&, std::int64_t) { ++hangs; }});
  watchdog.watch("write: transfer", &meter);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(50ms);
    (void)meter.completed(1);
  }
  EXPECT_EQ(hangs, 0);
  watchdog.rest();
  std::this_thread::sleep_for(700ms);
  EXPECT_EQ(hangs, 0);
}

TEST(Watchdog, WorkThatFollowsWorkIsProgress) {
  std::promise<std::string> hung;
  auto future = hung.get_future();
  const std::array<Watchdog::Work, 2> works{{{"write: open", nullptr}, {"write: close", nullptr}}};
  Watchdog watchdog({.limit_ns = 400'000'000,
                     .stop_file = "",
                     .on_stop_file = {},
                     .on_tick = {},
                     .on_hang = [&](const std::string& what, std::int64_t) { hung.set_value(what); }});
  for (std::size_t i = 0; i < 20; ++i) {
    watchdog.watch(works[i % 2]);
    std::this_thread::sleep_for(50ms);
  }
  EXPECT_EQ(future.wait_for(0s), std::future_status::timeout);
  ASSERT_EQ(future.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(future.get(), "write: close");
  watchdog.rest();
}

TEST(Watchdog, WorkHasALimitOfItsOwnAndStepsAreProgress) {
  std::promise<std::string> hung;
  auto future = hung.get_future();
  std::atomic<std::uint64_t> steps = 0;
  Watchdog watchdog({.limit_ns = 60'000'000'000,
                     .stop_file = "",
                     .on_stop_file = {},
                     .on_tick = {},
                     .on_hang = [&](const std::string& what, std::int64_t limit_ns) {
                       hung.set_value(what + " " + std::to_string(limit_ns));
                     }});
  const Watchdog::Work removal{.what = "remove", .meter = nullptr, .steps = &steps, .limit_ns = 500'000'000};
  watchdog.watch(removal);
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(50ms);
    ++steps;
  }
  EXPECT_EQ(future.wait_for(0s), std::future_status::timeout);
  ASSERT_EQ(future.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(future.get(), "remove 500000000");
  watchdog.rest();
}

TEST(Watchdog, KnowsWhetherItRests) {
  Watchdog watchdog({});
  EXPECT_TRUE(watchdog.resting());
  const std::uint64_t before = watchdog.turn();
  {
    const Watched watched(watchdog, "a step");
    EXPECT_FALSE(watchdog.resting());
    EXPECT_NE(watchdog.turn(), before);
  }
  EXPECT_TRUE(watchdog.resting());
}

TEST(Watchdog, SeesTheStopFileOnce) {
  std::string folder = (std::filesystem::temp_directory_path() / "ullage-test-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::atomic<int> seen = 0;
  {
    Watchdog watchdog({.limit_ns = 60'000'000'000,
                       .stop_file = folder + "/stop",
                       .on_stop_file = [&] { ++seen; },
                       .on_tick = {},
                       .on_hang = {}});
    std::ofstream(folder + "/stop") << "please";
    std::this_thread::sleep_for(1500ms);
  }
  EXPECT_EQ(seen, 1);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace ullage::watchdog_test
