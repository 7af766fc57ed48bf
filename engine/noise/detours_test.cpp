// SPDX-License-Identifier: Apache-2.0
#include "noise/detours.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"

namespace ullage::detours_test {
namespace {

constexpr std::int64_t look_ns = 25;

/// A clock every look at which takes 25 ns, and longer where something comes in between.
class Clock {
 public:
  explicit Clock(std::vector<std::pair<int, std::int64_t>> interruptions) : interruptions_(std::move(interruptions)) {}
  std::int64_t operator()() const {
    ++looks_;
    time_ += look_ns;
    for (const auto& [look, extra] : interruptions_)
      if (look == looks_) time_ += extra;
    return time_;
  }

 private:
  std::vector<std::pair<int, std::int64_t>> interruptions_;
  mutable int looks_ = 0;
  mutable std::int64_t time_ = 1'000'000;
};

TEST(DetourWatch, LongGapsAreDetoursAndShortOnesAreNot) {
  DetourWatch watch(look_ns, 100'000);
  watch.watch(100'000, Clock({{2, 3000}, {100, 400}, {200, 476}, {900, 20'000}}));
  EXPECT_EQ(watch.detours(), (std::vector<std::int64_t>{3000, 476, 20'000}));
  EXPECT_GE(watch.watched_ns(), 100'000);
}

TEST(DetourWatch, EachWatchBeginsAnew) {
  DetourWatch watch(look_ns, 100'000);
  watch.watch(100'000, Clock({{2, 3000}}));
  watch.watch(50'000, Clock({}));
  EXPECT_TRUE(watch.detours().empty());
  EXPECT_LT(watch.watched_ns(), 51'000);
}

TEST(DetourWatch, NothingButDetoursNeedsNoFurtherRoom) {
  DetourWatch watch(look_ns, 1'000'000);
  const std::size_t room = watch.detours().capacity();
  std::int64_t time = 0;
  watch.watch(1'000'000, [&time] { return time += usual_detour_ns + 1; });
  EXPECT_GT(watch.detours().size(), 1990U);
  EXPECT_EQ(watch.detours().capacity(), room);
}

TEST(DetourWatch, SlowClockIsNoDetour) {
  EXPECT_EQ(detour_from_ns(25), usual_detour_ns);
  EXPECT_EQ(detour_from_ns(700), 7000);
  DetourWatch watch(700, 100'000);
  std::int64_t time = 0;
  watch.watch(100'000, [&time] { return time += 700; });
  EXPECT_TRUE(watch.detours().empty());
}

TEST(DetourWatch, MachinesClockIsLookedAtForAsLongAsAsked) {
  const std::int64_t look = time_of_a_look_ns();
  EXPECT_GE(look, 0);
  DetourWatch watch(look, 2'000'000);
  watch.watch(2'000'000, now_ns);
  EXPECT_GE(watch.watched_ns(), 2'000'000);
  for (const std::int64_t took : watch.detours()) EXPECT_GT(took, 0);
}

}  // namespace
}  // namespace ullage::detours_test
