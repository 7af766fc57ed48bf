// SPDX-License-Identifier: Apache-2.0
// That nothing of ours is done inside the timer of a phase: no memory is asked for, nothing is cleared.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "run/phase_runner.hpp"

namespace {

/// Calls of operator new by this thread, in the whole test program.
thread_local std::size_t allocations = 0;

}  // namespace

// NOLINTBEGIN(*-no-malloc, *-owning-memory)
void* operator new(std::size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
// Of every kind that a library in this program may pair with ours below.
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
  ++allocations;
  return std::malloc(bytes);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(*-no-malloc, *-owning-memory)

namespace ullage::timed_brackets_test {
namespace {

/// One operation that does nothing. Notes how much its thread has allocated whenever it is entered or left.
class Noting final : public PhaseWork {
 public:
  std::size_t part_count = 0;

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info;
    info.name = "a-name-that-no-short-string-holds";
    info.parts.assign(part_count, "part");
    return info;
  }
  [[nodiscard]] std::uint64_t operations() const override { return 1; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t most) override { return most; }
  [[nodiscard]] Status open() override { return step(); }
  [[nodiscard]] Status execute(Meter& meter) override {
    note();
    (void)meter.completed(1);
    note();
    return {};
  }
  [[nodiscard]] bool wants_sync() const override { return true; }
  [[nodiscard]] Status sync() override { return step(); }
  [[nodiscard]] Status close() override { return step(); }

  /// Between two stages: 0 is from open to the first operation.
  [[nodiscard]] std::size_t allocated_after(std::size_t stage) const {
    return noted_.at(2 * stage + 2) - noted_.at(2 * stage + 1);
  }

 private:
  void note() { noted_.at(next_++) = allocations; }
  Status step() {
    note();
    note();
    return {};
  }
  std::array<std::size_t, 8> noted_{};  // open, execute, sync, close
  std::size_t next_ = 0;
};

class MpiTimedBrackets : public ::testing::Test {
 protected:
  MpiTimedBrackets() : meter_(StopFlags::instance().now()), watchdog_({}) { StopFlags::instance().reset(); }
  void run(Noting& work) {
    Json record;
    EXPECT_EQ(run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, work, record).status, PhaseStatus::ok);
  }

  mpi::World world_;
  mpi::CommonClock clock_;
  Meter meter_;
  Watchdog watchdog_;
};

TEST_F(MpiTimedBrackets, NothingIsAllocatedBetweenStages) {
  Noting work;
  work.part_count = 3;
  const std::size_t before = allocations;
  run(work);
  EXPECT_GT(allocations, before) << "what counts them does not";
  EXPECT_EQ(work.allocated_after(0), 0U) << "between open and the first operation";
  EXPECT_EQ(work.allocated_after(1), 0U) << "between the last operation and sync";
  EXPECT_EQ(work.allocated_after(2), 0U) << "between sync and close";
}

/// With as many histograms as make clearing them slow. The shortest of a few counts, since any may be interrupted.
TEST_F(MpiTimedBrackets, ClearingTheAccountIsNotInTheFirstOperation) {
  constexpr std::size_t many_parts = 64;
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max();
  std::int64_t clearing_ns = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    Noting work;
    work.part_count = many_parts;
    run(work);
    ASSERT_EQ(meter_.operations(), 1U);
    first_ns = std::min(first_ns, meter_.histogram().max_ns());
    const std::int64_t from = now_ns();
    meter_.forget();
    clearing_ns = std::min(clearing_ns, now_ns() - from);
  }
  EXPECT_LT(first_ns, static_cast<std::uint64_t>(clearing_ns) / 4);
}

}  // namespace
}  // namespace ullage::timed_brackets_test
