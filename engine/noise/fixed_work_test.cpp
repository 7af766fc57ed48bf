// SPDX-License-Identifier: Apache-2.0
#include "noise/fixed_work.hpp"

#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"

namespace ullage::fixed_work_test {

PhaseStatus run(const Values& given, Json& record) { return test::run_workload("fixed-work", given, record); }

TEST(FixedWork, RunsAsALaunchMakesIt) {
  Json record;
  ASSERT_EQ(run({{"quanta", 20}, {"watch_s", 0.001}, {"warm_up_s", 0.0}}, record), PhaseStatus::ok);
  EXPECT_EQ(record["phase"], "fixed-work");
  EXPECT_EQ(record["operations"], 20);
}

TEST(FixedWork, WorksOnCoresAndNeedsNoStorage) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("fixed-work");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  const auto values = complete(entry->description.parameters, {{"quanta", 77}, {"quantum_s", 1e-3}}, "");
  ASSERT_TRUE(values.has_value());
  EXPECT_EQ(bind_parameters<FixedWorkParameters>(*values).quanta, 77U);
  EXPECT_EQ(bind_parameters<FixedWorkParameters>(*values).quantum_s, 1e-3);
}

class MpiFixedWork : public test::MpiLaunch {
 protected:
  MpiFixedWork() {
    parameters_.threads = 2;
    parameters_.quantum_s = 2e-5;
    parameters_.quanta = 1500;  // two batches
    parameters_.watch_s = 0.002;
    parameters_.warm_up_s = 0;
  }
  PhaseOutcome run() {
    FixedWorkPhase phase(parameters_, context_);
    return run_phase(phase);
  }
  double least(const std::string& name) { return gauge(name, "least"); }
  double most(const std::string& name) { return gauge(name, "most"); }

  FixedWorkParameters parameters_;
};

TEST_F(MpiFixedWork, EveryQuantumOfEveryThreadIsCounted) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(record_["operations"], 1500 * world_.size());
  EXPECT_EQ(record_["latency_parts"]["quantum"]["operations"], 2 * 1500 * world_.size());
  EXPECT_EQ(least("threads"), 2);
}

TEST_F(MpiFixedWork, TimesAreInOrderAndSharesAreShares) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_GT(least("shortest_ns"), 0);
  EXPECT_LE(least("shortest_ns"), least("median_ns"));
  EXPECT_LE(most("median_ns"), most("p99_ns"));
  EXPECT_LE(most("p99_ns"), most("longest_ns"));
  for (const char* share : {"noise_share", "worst_noise_share", "turbo_share"}) {
    EXPECT_GE(least(share), 0) << share;
    EXPECT_LT(most(share), 1) << share;
  }
  EXPECT_GE(most("kernel_s"), 1500 * most("shortest_ns") * 1e-9 * 0.99);
}

TEST_F(MpiFixedWork, DetoursArePartOfTheWatchedTime) {
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_GE(least("watched_s"), 2 * 0.002);
  EXPECT_LE(most("detour_s"), most("watched_s"));
  EXPECT_LE(most("longest_detour_s"), most("detour_s") + 1e-12);
  const auto found = record_["gauges"]["detours"]["sum"].get<double>();
  const auto& part = record_["latency_parts"]["detour"];
  EXPECT_EQ(part.is_null() ? 0 : part["operations"].get<double>(), found);
}

TEST_F(MpiFixedWork, WithoutAWatchThereAreNoDetours) {
  parameters_.watch_s = 0;
  ASSERT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(most("watched_s"), 0);
  EXPECT_EQ(most("detours"), 0);
}

TEST_F(MpiFixedWork, ARequestToStopEndsItAfterItsBatch) {
  parameters_.quanta = 10'000'000;
  StopFlags::instance().stop_now();
  EXPECT_EQ(run().status, PhaseStatus::interrupted);
  StopFlags::instance().reset();
  if (world_.root()) {
    EXPECT_LE(record_["operations"], 1024 * world_.size());
  }
}

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

using Stamps = std::array<std::int64_t, pieces_a_quantum + 1>;

/// A quantum whose pieces take `piece_ns`, and `extra_ns` more in the one numbered `hit`.
Stamps quantum(std::int64_t piece_ns, std::size_t hit = 0, std::int64_t extra_ns = 0) {
  Stamps stamps{1000};
  for (std::size_t piece = 0; piece < pieces_a_quantum; ++piece)
    stamps[piece + 1] = stamps[piece] + piece_ns + (piece == hit ? extra_ns : 0);
  return stamps;
}

TEST(QuantumAccount, SteadyWorkHasNoNoise) {
  QuantumAccount account;
  for (int i = 0; i < 100; ++i) account.add(quantum(6250));
  EXPECT_EQ(account.count(), 100U);
  EXPECT_EQ(account.noise_share(), 0);
  EXPECT_EQ(account.turbo_share(), 0);
  EXPECT_EQ(account.histogram().max_ns(), 100'000U);
}

TEST(QuantumAccount, ClockThatFallsIsNoNoise) {
  QuantumAccount account;
  for (int i = 0; i < 50; ++i) account.add(quantum(5500));
  for (int i = 0; i < 50; ++i) account.add(quantum(6250));
  EXPECT_EQ(account.noise_share(), 0);
  EXPECT_NEAR(account.turbo_share(), 1 - 2 * 5500.0 / (5500 + 6250), 1e-9);
}

TEST(QuantumAccount, InterruptionIsNoiseWhereverItLies) {
  for (std::size_t hit = 0; hit < pieces_a_quantum; ++hit) {
    QuantumAccount account;
    account.add(quantum(6250, hit, 25'000));
    for (int i = 0; i < 3; ++i) account.add(quantum(6250));
    EXPECT_NEAR(account.noise_share(), 25.0 / 425, 1e-9);
    EXPECT_NEAR(account.turbo_share(), account.noise_share(), 1e-9);
  }
}

TEST(QuantumAccount, BothAreToldApart) {
  QuantumAccount account;
  account.add(quantum(5000, 3, 20'000));  // 80 + 20 us
  account.add(quantum(6250));             // 100 us
  EXPECT_NEAR(account.noise_share(), 20.0 / 200, 1e-9);
  EXPECT_EQ(account.turbo_share(), 0);  // by their length alone both are the same
}

TEST(QuantumAccount, ShortInterruptionOfSevenPiecesIsStillNoise) {
  Stamps stamps = quantum(6250);
  for (std::size_t piece = 0; piece < 7; ++piece)
    for (std::size_t later = piece + 1; later < stamps.size(); ++later) stamps[later] += 1000;
  QuantumAccount account;
  account.add(stamps);
  EXPECT_NEAR(account.noise_share(), 7.0 / 107, 1e-9);
}

TEST(QuantumAccount, ThreadsAddUp) {
  QuantumAccount quiet;
  QuantumAccount noisy;
  quiet.add(quantum(6250));
  noisy.add(quantum(6250, 9, 100'000));
  noisy.merge(quiet);
  EXPECT_EQ(noisy.count(), 2U);
  EXPECT_NEAR(noisy.noise_share(), 100.0 / 300, 1e-9);
}

TEST(QuantumAccount, NothingIsNoNoise) {
  EXPECT_EQ(QuantumAccount().noise_share(), 0);
  EXPECT_EQ(QuantumAccount().turbo_share(), 0);
}

}  // namespace ullage::fixed_work_test
