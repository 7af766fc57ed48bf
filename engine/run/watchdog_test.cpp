// SPDX-License-Identifier: Apache-2.0
#include "run/watchdog.hpp"

#include <gtest/gtest.h>

#include <future>

namespace ullage::watchdog_test {
namespace {

using namespace std::chrono_literals;

/// Notes what a watchdog calls a hang, the first time.
class FirstHang final {
 public:
  void tell(const std::string& what) {
    if (!told_.exchange(true)) hung_.set_value(what);
  }
  [[nodiscard]] bool was_told() const { return told_; }
  [[nodiscard]] std::string await() {
    return future_.wait_for(30s) == std::future_status::ready ? future_.get() : "none in time";
  }

 private:
  std::promise<std::string> hung_;
  std::future<std::string> future_ = hung_.get_future();
  std::atomic<bool> told_ = false;
};

/// Progress is made every 50 ms, in which a process that stands still makes none: so often a test tries again. What is
/// no progress to the watchdog would be called a hang every time.
constexpr int most_tries = 20;

TEST(Watchdog, NamesWhatHangs) {
  std::promise<std::string> hung;
  Watchdog watchdog(
      {.limit_ns = 200'000'000, .on_hang = [&](const std::string& what, std::int64_t) { hung.set_value(what); }});
  const Watched watched(watchdog, "write: sync");
  auto future = hung.get_future();
  ASSERT_EQ(future.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(future.get(), "write: sync");
}

TEST(Watchdog, OperationsAreProgressAndWaitsAreNoHang) {
  bool is_alive = false;
  for (int tries = 0; tries < most_tries && !is_alive; ++tries) {
    FirstHang hang;
    Meter meter;
    meter.start(now_ns());
    Watchdog watchdog(
        {.limit_ns = 400'000'000, .on_hang = [&](const std::string& what, std::int64_t) { hang.tell(what); }});
    const Watched watched(watchdog, "write: transfer", {}, &meter);
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(50ms);
      (void)meter.completed(1);
    }
    const mpi::Waiting waiting;
    is_alive = !hang.was_told();
    if (!is_alive) continue;
    std::this_thread::sleep_for(700ms);
    EXPECT_FALSE(hang.was_told()) << "it waits for others";
  }
  EXPECT_TRUE(is_alive);
}

TEST(Watchdog, WaitsThatComeAndGoAreProgressAndWhatFollowsThemIsWatched) {
  bool is_alive = false;
  for (int tries = 0; tries < most_tries && !is_alive; ++tries) {
    FirstHang hang;
    Watchdog watchdog(
        {.limit_ns = 400'000'000, .on_hang = [&](const std::string& what, std::int64_t) { hang.tell(what); }});
    const Watched watched(watchdog, "make phase");
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(50ms);
      const mpi::Waiting waiting;
    }
    is_alive = !hang.was_told();
    if (is_alive) {
      EXPECT_EQ(hang.await(), "make phase");
    }
  }
  EXPECT_TRUE(is_alive);
}

/// Says what a watchdog with a short limit calls a hang while `work` is done.
template <class Call>
std::string hang_during(const Call& work) {
  FirstHang hang;
  Watchdog watchdog(
      {.limit_ns = 200'000'000, .on_hang = [&](const std::string& what, std::int64_t) { hang.tell(what); }});
  return work(watchdog, hang);
}

TEST(Watchdog, StepsLieWithinOneAnother) {
  const auto nothing = [](Watchdog&, FirstHang& hang) { return hang.await(); };
  const auto within_two = [](Watchdog& watchdog, FirstHang& hang) {
    const Watched outer(watchdog, "outer");
    const Watched inner(watchdog, "inner");
    return hang.await();
  };
  const auto after_one = [](Watchdog& watchdog, FirstHang& hang) {
    const Watched outer(watchdog, "outer");
    {
      const Watched inner(watchdog, "inner");
    }
    return hang.await();
  };
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(hang_during(nothing), "the launch, between its steps");
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 200ms) << "its beginning is the first progress";
  EXPECT_EQ(hang_during(within_two), "inner");
  EXPECT_EQ(hang_during(after_one), "outer");
}

/// Pages that are written back for as long as `seconds` says; a server has `pending` bytes still to write.
class ModelWriteBack final : public WriteBack {
 public:
  explicit ModelWriteBack(double seconds, std::uint64_t pending = 0) : seconds_(seconds), pending_(pending) {}
  [[nodiscard]] std::uint64_t steps() const noexcept override {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begun_;
    return static_cast<std::uint64_t>(std::min(since.count(), seconds_) * 1000);
  }
  [[nodiscard]] std::uint64_t pending_bytes() const noexcept override { return pending_; }

 private:
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  double seconds_;
  std::uint64_t pending_;
};

/// Says how long it takes until this is called a hang by a watchdog with a limit of 2.5 s, in seconds; and of which
/// limit.
struct Found {
  double seconds = 0;
  std::int64_t limit_ns = 0;
  std::string what;
};
Found hang_of(const Watchdog::Work& work) {
  std::promise<Found> hung;
  auto future = hung.get_future();
  const auto begun = std::chrono::steady_clock::now();
  Watchdog watchdog({.limit_ns = 2'500'000'000, .on_hang = [&](const std::string& what, std::int64_t limit_ns) {
                       const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
                       hung.set_value({took.count(), limit_ns, what});
                     }});
  watchdog.watch(work);
  const bool found = future.wait_for(30s) == std::future_status::ready;
  watchdog.end();
  return found ? future.get() : Found{};
}

TEST(Watchdog, SyncThatWritesBackIsAliveUntilNothingIsWrittenBackForTheLimit) {
  const ModelWriteBack four_seconds(4);
  const Found found = hang_of({.what = "write: sync", .write_back = &four_seconds});
  EXPECT_GE(found.seconds, 6) << "4 s of progress and 2.5 s without";
  EXPECT_EQ(found.limit_ns, 2'500'000'000);
  EXPECT_EQ(found.what, "write: sync");
}

TEST(Watchdog, SyncThatWritesBackNothingHangsHoweverMuchWasWritten) {
  const ModelWriteBack never(0);
  const Found found = hang_of({.what = "write: sync", .write_back = &never, .longest_ns = 3600'000'000'000});
  EXPECT_EQ(found.limit_ns, 2'500'000'000);
}

TEST(Watchdog, ServerHasTheTimeOfWhatItHasNotConfirmed) {
  const ModelWriteBack never(0, 20'000'000);
  const Found found = hang_of({.what = "write: sync", .write_back = &never, .server_ns = 3600'000'000'000, .nodes = 2});
  EXPECT_EQ(found.limit_ns, 4'000'000'000) << "two nodes with 20 MB each, at 10 MB/s";
  const Found small = hang_of({.what = "write: sync", .write_back = &never, .server_ns = 3'000'000'000, .nodes = 2});
  EXPECT_EQ(small.limit_ns, 3'000'000'000) << "most of these pages are others'";
}

TEST(Watchdog, OthersThatWriteDoNotHideAHangForEver) {
  const ModelWriteBack others(1000);
  const Found found = hang_of({.what = "write: sync", .write_back = &others, .longest_ns = 4'000'000'000});
  EXPECT_EQ(found.limit_ns, 4'000'000'000);
  EXPECT_EQ(found.what, "write: sync (others may have written to its device)");
}

TEST(Watchdog, WorkThatFollowsWorkIsProgress) {
  const std::array<Watchdog::Work, 2> works{{{"write: open", nullptr}, {"write: close", nullptr}}};
  bool is_alive = false;
  for (int tries = 0; tries < most_tries && !is_alive; ++tries) {
    FirstHang hang;
    Watchdog watchdog(
        {.limit_ns = 400'000'000, .on_hang = [&](const std::string& what, std::int64_t) { hang.tell(what); }});
    for (std::size_t i = 0; i < 20; ++i) {
      watchdog.watch(works[i % 2]);
      std::this_thread::sleep_for(50ms);
    }
    is_alive = !hang.was_told();
    if (is_alive) {
      EXPECT_EQ(hang.await(), "write: close");
    }
  }
  EXPECT_TRUE(is_alive);
}

TEST(Watchdog, WorkHasALimitOfItsOwnAndStepsOfAnyCounterAreProgress) {
  bool is_alive = false;
  for (int tries = 0; tries < most_tries && !is_alive; ++tries) {
    FirstHang hang;
    const std::atomic<std::uint64_t> idle = 0;  // as of a target from which nothing is removed now
    std::atomic<std::uint64_t> steps = 0;
    const Watchdog::Work removal{.what = "remove", .meter = nullptr, .steps = {&idle, &steps}, .limit_ns = 500'000'000};
    Watchdog watchdog({.limit_ns = 60'000'000'000, .on_hang = [&](const std::string& what, std::int64_t limit_ns) {
                         hang.tell(what + " " + std::to_string(limit_ns));
                       }});
    watchdog.watch(removal);
    for (int i = 0; i < 20; ++i) {
      std::this_thread::sleep_for(50ms);
      ++steps;
    }
    is_alive = !hang.was_told();
    if (is_alive) {
      EXPECT_EQ(hang.await(), "remove 500000000");
    }
  }
  EXPECT_TRUE(is_alive);
}

/// Fills memory, as far as a watchdog can see that.
TEST(Watchdog, StepThatComputesIsAliveForSoLongAndOneThatSleepsIsNot) {
  const auto hang_of_step = [](std::int64_t longest_ns, bool computes) {
    FirstHang hang;
    std::atomic<bool> told = false;
    Watchdog watchdog({.limit_ns = 2'500'000'000,
                       .longest_computing_ns = longest_ns,
                       .on_hang = [&](const std::string& what, std::int64_t) {
                         hang.tell(what);
                         told = true;
                       }});
    const auto begun = std::chrono::steady_clock::now();
    const Watched watched(watchdog, "make phase");
    while (!told && std::chrono::steady_clock::now() - begun < 60s)
      if (!computes) std::this_thread::sleep_for(50ms);
    EXPECT_EQ(hang.await(), "make phase");
    return std::chrono::steady_clock::now() - begun;
  };
  EXPECT_GE(hang_of_step(6'000'000'000, true), 6s);
  EXPECT_GE(hang_of_step(0, true), 2500ms);
  bool is_short = false;  // where this process stands still it is longer
  for (int tries = 0; tries < most_tries && !is_short; ++tries) is_short = hang_of_step(3600'000'000'000, false) < 50s;
  EXPECT_TRUE(is_short);
}

TEST(Watchdog, TurnChangesWithEveryStep) {
  Watchdog watchdog({});
  const std::uint64_t before = watchdog.turn();
  std::uint64_t within = before;
  {
    const Watched watched(watchdog, "a step");
    within = watchdog.turn();
  }
  EXPECT_NE(within, before);
  EXPECT_NE(watchdog.turn(), within);
}

TEST(Watchdog, CountsLooksWhileDataIsRemovedAndAfterThatWhileOthersAreWaitedFor) {
  std::atomic<std::uint64_t> looks = 0;
  Watchdog* self = nullptr;
  std::atomic<bool> is_ready = false;
  Watchdog watchdog({.on_tick = [&] {
    if (is_ready) looks = self->removal_looks();
  }});
  self = &watchdog;
  is_ready = true;
  const auto await_more = [&](std::atomic<std::uint64_t>* counter, int most) {
    const std::uint64_t before = looks;
    for (int tries = 0; tries < most && looks < before + 2; ++tries) {
      if (counter != nullptr) ++*counter;
      std::this_thread::sleep_for(10ms);
    }
    return looks >= before + 2;
  };
  std::atomic<std::uint64_t> removed = 0;
  {
    const Watched watched(watchdog, "remove", {&removed});
    std::this_thread::sleep_for(500ms);
    EXPECT_EQ(looks, 0U) << "nothing was removed yet";
    bool has_waited = false;
    // A look between the last removal and the wait, on a busy machine, ends the removal: so it is tried again.
    for (int tries = 0; tries < most_tries && !has_waited; ++tries) {
      EXPECT_TRUE(await_more(&removed, 3000));
      const mpi::Waiting waiting;
      has_waited = await_more(nullptr, 100);
    }
    EXPECT_TRUE(has_waited);
  }
  watchdog.end();
}

TEST(Watchdog, AsksUntilItIsToStopAndSaysSoOnce) {
  std::atomic<int> asked = 0;
  std::atomic<int> stopped = 0;
  {
    Watchdog watchdog({.limit_ns = 60'000'000'000,
                       .asked_to_stop = [&] { return ++asked == 2; },
                       .on_stop = [&] { ++stopped; },
                       .on_tick = {},
                       .on_hang = {}});
    for (int i = 0; i < 300 && stopped == 0; ++i) std::this_thread::sleep_for(100ms);
    std::this_thread::sleep_for(1500ms);
  }
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(stopped, 1);
}

TEST(Watchdog, ItsThreadStaysOnTheCpusThatItIsGiven) {
  const std::vector<int> mine = own_cpus();
  const std::vector<int> last{mine.back()};
  std::promise<std::vector<int>> seen;
  auto future = seen.get_future();
  bool is_first = true;
  Watchdog watchdog({.asked_to_stop = {},
                     .on_stop = {},
                     .on_tick =
                         [&] {
                           if (std::exchange(is_first, false)) seen.set_value(own_cpus());
                         },
                     .on_hang = {},
                     .cpus = last});
  ASSERT_EQ(future.wait_for(30s), std::future_status::ready);
  EXPECT_EQ(future.get(), last);
  EXPECT_EQ(own_cpus(), mine) << "the caller's thread stays where it was";
  watchdog.end();
}

constexpr std::int64_t second = 1'000'000'000;
constexpr std::uint64_t gb = 1'000'000'000;

TEST(StageLimits, SmallStagesHaveTheLeastLimit) {
  EXPECT_EQ(stage_limit_ns(6 * second, 0), 6 * second);
  EXPECT_EQ(stage_limit_ns(6 * second, 60'000'000), 6 * second);
}

TEST(StageLimits, LargeOnesHaveTheTimeOfASlowTarget) {
  EXPECT_EQ(stage_limit_ns(6 * second, gb), 100 * second);
  EXPECT_GT(stage_limit_ns(6 * second, ~std::uint64_t{0}), 0);
}

TEST(StageLimits, AFlushMovesNoMoreThanMemoryHolds) {
  EXPECT_EQ(flush_limit_ns(120 * second, 1000 * gb, 1, 16 * gb), 1600 * second);
  EXPECT_EQ(flush_limit_ns(120 * second, gb, 4, 16 * gb), 400 * second);
  EXPECT_EQ(flush_limit_ns(120 * second, ~std::uint64_t{0}, 4, 16 * gb), 1600 * second);
  EXPECT_EQ(flush_limit_ns(120 * second, 2 * gb, 1, 0), 200 * second);
}

TEST(StageLimits, MemoryIsFilledFasterThanATarget) {
  EXPECT_EQ(filling_limit_ns(120 * second, gb), 120 * second);
  EXPECT_EQ(filling_limit_ns(120 * second, 500 * gb), 10'000 * second);
}

TEST(StageLimits, ThisNodeHasMemory) { EXPECT_GT(physical_memory_bytes(), 1U << 20U); }

}  // namespace

}  // namespace ullage::watchdog_test
