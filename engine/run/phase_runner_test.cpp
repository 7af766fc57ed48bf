// SPDX-License-Identifier: Apache-2.0
// The order of events in a phase, and that a failure of one rank is everybody's.
#include "run/phase_runner.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cerrno>
#include <new>

namespace ullage::phase_runner_test {

using Events = std::vector<std::string>;

PhaseInfo writing() {
  PhaseInfo info;
  info.name = "write";
  info.access = Access::write;
  return info;
}

class Scripted final : public PhaseWork {
 public:
  Events* events = nullptr;
  PhaseInfo scripted_info = writing();
  std::uint64_t total = 4;
  std::uint64_t batch = 2;
  std::string fails;  // the step that returns an error
  int op_sleep_us = 0;
  int prepare_sleep_us = 0;
  int sync_sleep_us = 0;
  std::size_t touched_pages = 0;

  [[nodiscard]] PhaseInfo info() const override { return scripted_info; }
  [[nodiscard]] Status allocate() override {
    if (fails == "allocate") throw std::bad_alloc();
    return {};
  }
  [[nodiscard]] Status before() override { return step("before"); }
  [[nodiscard]] std::uint64_t operations() const override { return total; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    if (fails == "prepare " + std::to_string(first)) throw std::bad_alloc();
    prepared_ = std::min(batch, most);
    events->push_back("prepare " + std::to_string(first) + "+" + std::to_string(prepared_));
    if (prepare_sleep_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(prepare_sleep_us));
    return prepared_;
  }
  [[nodiscard]] Status open() override { return step("open"); }
  [[nodiscard]] Status execute(Meter& meter) override {
    if (auto status = step("execute"); !status) return status;
    touch();
    for (std::uint64_t i = 0; i < prepared_; ++i) {
      if (op_sleep_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(op_sleep_us));
      if (!meter.completed(100)) break;
    }
    return {};
  }
  [[nodiscard]] bool wants_sync() const override { return true; }
  [[nodiscard]] Status sync() override {
    if (sync_sleep_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(sync_sleep_us));
    return step("sync");
  }
  [[nodiscard]] Status close() override { return step("close"); }
  [[nodiscard]] Verification after(std::uint64_t executed, Meter&) override {
    events->push_back("after " + std::to_string(executed));
    return {};
  }

 private:
  void touch() const {
    if (touched_pages == 0) return;
    constexpr std::size_t page = 4096;
    void* const pages = mmap(nullptr, touched_pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    madvise(pages, touched_pages * page, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < touched_pages; ++i) static_cast<volatile char*>(pages)[i * page] = 1;
    munmap(pages, touched_pages * page);
  }
  Status step(const std::string& name) {
    events->push_back(name);
    if (name == fails) return fail(errno_error(EIO, name, "/x"));
    return {};
  }
  std::uint64_t prepared_ = 0;
};

class Spy final : public Probe {
 public:
  explicit Spy(Events& events) : events_(events) {}
  void begin(const PhaseScope&) override {
    if (fails) throw std::bad_alloc();
    events_.push_back("probe begin");
  }
  void end(const PhaseScope&) override { events_.push_back("probe end"); }
  void report(const PhaseScope& scope, Json& record) override {
    events_.push_back("probe report");
    record["requested"] = scope.requested_bytes;
  }

  bool fails = false;

 private:
  Events& events_;
};

class MpiPhaseRunner : public ::testing::Test {
 protected:
  MpiPhaseRunner() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    auto spy = std::make_unique<Spy>(events_);
    spy_ = spy.get();
    probes_.push_back(std::move(spy));
    work_.events = &events_;
  }
  PhaseOutcome run() {
    const RunContext context{&world_, &clock_, &watchdog_, &meter_, probes_, 0};
    return run_phase(context, nullptr, work_, record_);
  }
  /// Of the last rank alone, for want of memory, and the next phase is run.
  void expect_short_of_memory() {
    EXPECT_EQ(run().status, PhaseStatus::failed);
    if (world_.root()) {
      ASSERT_EQ(record_["failures"].size(), 1U);
      EXPECT_EQ(record_["failures"][0]["rank"], guilty());
      EXPECT_EQ(record_["failures"][0]["errno"], ENOMEM);
    }
    work_.fails.clear();
    spy_->fails = false;
    EXPECT_EQ(run().status, PhaseStatus::ok);
  }
  [[nodiscard]] int guilty() const { return world_.size() - 1; }
  [[nodiscard]] bool is_guilty() const { return world_.rank() == guilty(); }

  mpi::World world_;
  mpi::CommonClock clock_;
  Meter meter_;
  Watchdog watchdog_;
  Events events_;
  std::vector<std::unique_ptr<Probe>> probes_;
  Spy* spy_ = nullptr;
  Scripted work_;
  Json record_;
};

/// A phase that failed may have told the meter something, and not taken it back.
TEST_F(MpiPhaseRunner, WhatAPhaseLeavesInTheMeterEndsWithIt) {
  meter_.use_histogram(false);
  meter_.obey_stop(false);
  meter_.use_parts(3);
  meter_.set_deadline(0);
  ASSERT_EQ(run().status, PhaseStatus::ok);
  EXPECT_TRUE(meter_.parts().empty());
  if (!world_.root()) return;
  EXPECT_EQ(record_["latency"]["operations"], 4 * world_.size()) << record_.dump(1);
}

TEST_F(MpiPhaseRunner, FirstBatchIsReadyBeforeTheTimerAndVerificationComesAfterIt) {
  EXPECT_EQ(run().status, PhaseStatus::ok);
  EXPECT_EQ(events_, (Events{"before", "prepare 0+2", "probe begin", "open", "execute", "prepare 2+2", "execute",
                             "sync", "close", "probe end", "after 4", "probe report"}));
}

TEST_F(MpiPhaseRunner, PageFaultsOfAllRanksAreCounted) {
  work_.touched_pages = 500;
  EXPECT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  const auto ranks = static_cast<std::uint64_t>(world_.size());
  // Both batches touch them, in pages of the system: it may have larger ones than these.
  EXPECT_GE(record_["minor_faults"], 2 * 500 * ranks * 4096 / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

/// Preparing takes 5 ms, twice before the timer or within it, and all else much less.
TEST_F(MpiPhaseRunner, ClockStandsStillWhileMoreIsPreparedWhereItMay) {
  work_.prepare_sleep_us = 5000;
  for (const bool stops : {false, true}) {
    work_.scripted_info.clock_stops = stops;
    const std::int64_t from = now_ns();
    const PhaseOutcome outcome = run();
    const std::int64_t whole_ns = now_ns() - from;
    EXPECT_LE(outcome.elapsed_ns, whole_ns - (stops ? 10'000'000 : 5'000'000));
    if (!stops) {
      EXPECT_GE(outcome.elapsed_ns, 5'000'000);
    }
    if (!world_.root()) continue;
    EXPECT_EQ(record_["clock_stops"], stops);
    EXPECT_GE(record_["prepare_ns"], 5'000'000);
    EXPECT_LE(record_["first_done"]["bytes"], record_["bytes"]);
    EXPECT_LE(record_["first_done"]["elapsed_ns"], record_["elapsed_ns"]);
  }
}

/// Preparing takes 5 ms within the phase, the sync four times as long: a device has worked on meanwhile.
TEST_F(MpiPhaseRunner, ClockStandsStillNoLongerThanASyncIsShorter) {
  work_.prepare_sleep_us = 5000;
  work_.sync_sleep_us = 20'000;
  work_.scripted_info.clock_stops = true;
  EXPECT_GE(run().elapsed_ns, 25'000'000);
  if (world_.root()) {
    EXPECT_GE(record_["stages"]["sync"]["longest_ns"], 25'000'000);
    EXPECT_LE(record_["stages"]["transfer"]["last_stop_ns"], record_["stages"]["sync"]["last_stop_ns"]);
  }
}

/// The wall is after 20 ms of work; each batch of two takes 2 ms to prepare and a little to do.
TEST_F(MpiPhaseRunner, WallWaitsForAClockThatStandsStill) {
  work_.prepare_sleep_us = 2000;
  work_.op_sleep_us = 500;
  work_.total = 100'000;
  work_.scripted_info.clock_stops = true;
  work_.scripted_info.stonewall_ns = 20'000'000;
  EXPECT_EQ(run().status, PhaseStatus::ok);
  if (world_.root()) {
    EXPECT_GE(record_["stonewall"]["at_wall"]["elapsed_ns"], 20'000'000);
    if (record_["operations"] > 2 * world_.size()) {  // none more where all ranks stood still in their first batch
      EXPECT_GT(record_["prepare_ns"], 0);
    }
    EXPECT_LE(record_["stonewall"]["at_wall"]["elapsed_ns"], record_["elapsed_ns"]);
  }
}

TEST_F(MpiPhaseRunner, RecordAddsUpOverRanks) {
  const PhaseOutcome outcome = run();
  if (!world_.root()) return;
  const auto ranks = static_cast<std::uint64_t>(world_.size());
  EXPECT_EQ(record_["bytes"], 400 * ranks);
  EXPECT_EQ(record_["operations"], 4 * ranks);
  EXPECT_EQ(record_["requested"], 400 * ranks);
  EXPECT_EQ(record_["syncs"], ranks);
  EXPECT_EQ(record_["latency"]["operations"], 4 * ranks);
  EXPECT_EQ(record_["elapsed_ns"], outcome.elapsed_ns);
  EXPECT_EQ(record_["last_done"]["bytes"], 400 * ranks);
  EXPECT_LE(record_["first_done"]["bytes"], 400 * ranks);
  EXPECT_EQ(record_["by_rank"]["slowest"].size(), std::min<std::uint64_t>(4, ranks));
  const auto open = record_["stages"]["open"];
  EXPECT_LE(open["first_start_ns"], open["last_stop_ns"]);
  EXPECT_EQ(record_["start_ns"], open["first_start_ns"]);
  std::uint64_t over_time = 0;  // a rank that begins later may be in a later interval
  for (const auto& bytes : record_["series"]["bytes"]) over_time += bytes.get<std::uint64_t>();
  EXPECT_EQ(over_time, 400 * ranks);
}

/// Every rank says that its clock is its own, so that they are measured although they are the same.
TEST_F(MpiPhaseRunner, RecordSaysHowWellStampsOfSeveralClocksAreKnown) {
  clock_ = mpi::CommonClock(world_, {world_.rank(), now_ns}, {-1, -1, 0});
  EXPECT_EQ(run().status, PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(record_.contains("clock"), world_.size() > 1) << "one clock is exact";
  if (world_.size() == 1) return;
  EXPECT_EQ(record_["clock"]["measured"], "around");
  EXPECT_GT(record_["clock"]["residual_ns"], 0);
  EXPECT_EQ(record_["clock"]["jumped"], false);
  EXPECT_GE(record_["clock"]["drift_ppm"], 0);
}

TEST_F(MpiPhaseRunner, OneRanksErrorFailsThePhaseForAllAndIsNamed) {
  const int guilty = world_.size() - 1;
  if (world_.rank() == guilty) work_.fails = "execute";
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(events_.back(), "probe report") << "the rank went to the end with the others";
  if (!world_.root()) return;
  ASSERT_EQ(record_["failures"].size(), 1U);
  EXPECT_EQ(record_["failures"][0]["rank"], guilty);
  EXPECT_EQ(record_["failures"][0]["errno"], EIO);
  EXPECT_EQ(record_["failures"][0]["path"], "/x");
}

TEST_F(MpiPhaseRunner, PhaseThatCannotBeginTouchesNothing) {
  if (world_.rank() == 0) work_.fails = "before";
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(events_, Events{"before"});
}

TEST_F(MpiPhaseRunner, OneRankWithoutMemoryKeepsAllFromThePhase) {
  if (is_guilty()) work_.fails = "allocate";
  expect_short_of_memory();
  EXPECT_EQ(events_.front(), "before") << "of the phase after it";
}

TEST_F(MpiPhaseRunner, OneRankThatCannotPrepareKeepsAllFromThePhase) {
  if (is_guilty()) work_.fails = "prepare 0";
  expect_short_of_memory();
  EXPECT_EQ(std::ranges::count(events_, "open"), 1) << "of the phase after it";
}

TEST_F(MpiPhaseRunner, OneRankThatCannotPrepareMoreStaysUntilTheOthersKnow) {
  if (is_guilty()) work_.fails = "prepare 2";
  expect_short_of_memory();
}

TEST_F(MpiPhaseRunner, OneRankWhoseProbeHasNoMemoryKeepsAllFromThePhase) {
  spy_->fails = is_guilty();
  expect_short_of_memory();
}

TEST_F(MpiPhaseRunner, FailedOpenTransfersNothing) {
  work_.fails = "open";
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(std::ranges::count(events_, "execute"), 0);
  if (world_.root()) {
    EXPECT_EQ(record_["bytes"], 0);
  }
}

TEST_F(MpiPhaseRunner, StonewallEndsTheTransferAndWearOutEvensTheCounts) {
  work_.total = 1'000'000;
  work_.batch = 1000;
  work_.op_sleep_us = 200 * (1 + world_.rank());  // ranks differ in speed
  work_.scripted_info.stonewall_ns = 60'000'000;
  work_.scripted_info.wear_out = true;
  EXPECT_EQ(run().status, PhaseStatus::ok);
  const auto mine = static_cast<std::int64_t>(meter_.operations());
  EXPECT_EQ(world_.all().min(mine), world_.all().max(mine));
  if (!world_.root()) return;
  const Json& wall = record_["stonewall"];
  EXPECT_EQ(wall["most_operations"], mine);
  EXPECT_LE(wall["least_operations"], wall["most_operations"]);
  EXPECT_LE(wall["at_wall"]["operations"], record_["operations"]);
  EXPECT_GE(wall["at_wall"]["elapsed_ns"], 60'000'000);
}

TEST_F(MpiPhaseRunner, RankWhoseOpenFailedStillAgreesOnTheWearOut) {
  if (world_.rank() == world_.size() - 1) work_.fails = "open";
  work_.scripted_info.stonewall_ns = 20'000'000;
  work_.scripted_info.wear_out = true;
  work_.op_sleep_us = 200;
  EXPECT_EQ(run().status, PhaseStatus::failed);
  EXPECT_EQ(events_.back(), "probe report");
}

TEST_F(MpiPhaseRunner, CollectiveRanksBeginTheSameNumberOfOperations) {
  work_.scripted_info.collective = true;
  work_.scripted_info.stonewall_ns = 20'000'000;
  work_.total = 1'000'000;
  work_.op_sleep_us = 200 * (1 + world_.rank());
  EXPECT_EQ(run().status, PhaseStatus::ok);
  const auto mine = static_cast<std::int64_t>(meter_.operations());
  EXPECT_EQ(world_.all().min(mine), world_.all().max(mine));
}

TEST_F(MpiPhaseRunner, StopFlagCutsThePhaseShort) {
  work_.total = 1'000'000;
  StopFlags::instance().stop_now();
  EXPECT_EQ(run().status, PhaseStatus::interrupted);
  EXPECT_EQ(meter_.operations(), 1U);
  StopFlags::instance().reset();
}

}  // namespace ullage::phase_runner_test
