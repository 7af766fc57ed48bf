// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/loop.hpp"

#include <gtest/gtest.h>

#include <set>

#include "storage/workloads/b_eff_io/test_support.hpp"

namespace ullage::b_eff_io_loop_test {

constexpr double for_ever = std::numeric_limits<double>::infinity();
constexpr std::uint64_t call_bytes = 1032;

class MpiBEffIoLoop : public ::testing::Test {
 protected:
  MpiBEffIoLoop() : file_(store_, world_.all(), "f"), meter_(StopFlags::instance().now()) {
    meter_.start(now_ns());
    EXPECT_TRUE(file_.set_view({}, {}).has_value());
    new_buffers();
    buffers_->fill(1);
  }
  void new_buffers() {
    buffers_.emplace(memory_, BEffIoContents{1, 5, call_bytes, static_cast<std::uint64_t>(world_.rank()), 0, 0});
  }
  BEffIoLoop loop(Pointer pointer, Direction direction = Direction::write) {
    return BEffIoLoop({&file_, direction, pointer, direction == Direction::read, &world_.all(), &*buffers_}, meter_,
                      times_);
  }
  void expect_sums(const BEffIoLoop& loop) const {
    EXPECT_EQ(meter_.operations(), loop.done());
    EXPECT_EQ(meter_.bytes(), loop.done() * call_bytes);
    EXPECT_EQ(times_.accounted(), times_.calls + times_.barrier + times_.agree);
    EXPECT_GT(times_.calls, 0);
    EXPECT_GE(times_.calls, times_.last_call);
    EXPECT_GT(times_.payload, 0);
  }

  test::KeptSignals kept_;
  mpi::World world_;
  test::ViewedStore store_;
  test::StoredViewedFile file_;
  AlignedBuffer memory_;
  std::optional<BEffIoBuffers> buffers_;
  Meter meter_;
  BEffIoTimes times_;
};

/// A rank that stands still in the first call takes all of the time with it: one of many loops is enough.
TEST_F(MpiBEffIoLoop, TimeEndsItOnAllRanksAtOnce) {
  std::uint64_t done = 0;
  for (int time = 0; time < 20 && done < 2; ++time) {
    meter_.start(now_ns());
    times_ = {};
    BEffIoLoop timed = loop(Pointer::individual);
    timed.run({BEffIoRule::predicted, 0.1, 100000000});
    EXPECT_TRUE(timed.status().has_value());
    EXPECT_EQ(timed.end(), BEffIoEnd::scheduled);
    done = timed.done();
    ASSERT_EQ(world_.all().max(static_cast<std::int64_t>(done)), world_.all().min(static_cast<std::int64_t>(done)));
    expect_sums(timed);
  }
  EXPECT_GT(done, 1U);
  EXPECT_GT(times_.barrier, 0);
  EXPECT_GT(times_.agree, 0);
  EXPECT_GT(times_.last_barrier, 0);
}

TEST_F(MpiBEffIoLoop, OneRepetitionIsAlwaysDone) {
  BEffIoLoop timed = loop(Pointer::together);
  timed.run({BEffIoRule::predicted, 1e-9, 1000000});
  EXPECT_EQ(timed.done(), 1U);
  EXPECT_EQ(timed.end(), BEffIoEnd::scheduled);
}

TEST_F(MpiBEffIoLoop, SpaceEndsIt) {
  BEffIoLoop timed = loop(Pointer::together);
  timed.run({BEffIoRule::elapsed, 1000, 7});
  EXPECT_EQ(timed.done(), 7U);
  EXPECT_EQ(timed.end(), BEffIoEnd::space);
}

TEST_F(MpiBEffIoLoop, CountsAreDoneWithoutABarrierBetween) {
  for (const Pointer pointer : {Pointer::individual, Pointer::together}) {
    meter_.start(now_ns());
    times_ = {};
    BEffIoLoop counted = loop(pointer);
    counted.run(300, for_ever);
    EXPECT_EQ(counted.done(), 300U);
    EXPECT_EQ(counted.end(), BEffIoEnd::count);
    EXPECT_EQ(times_.barrier, 0);
    EXPECT_EQ(times_.agree > 0, pointer == Pointer::together);
    expect_sums(counted);
  }
}

TEST_F(MpiBEffIoLoop, WhatWasWrittenIsReadAndVerified) {
  BEffIoLoop written = loop(Pointer::individual);
  written.run(1500, for_ever);
  ASSERT_TRUE(file_.set_view(store_.views.back(), {}).has_value());
  new_buffers();
  buffers_->poison();
  meter_.start(now_ns());
  BEffIoLoop read = loop(Pointer::individual, Direction::read);
  read.run(1500, for_ever);
  EXPECT_TRUE(read.status().has_value());
  EXPECT_EQ(read.found().verified_bytes, 1500 * call_bytes);
  EXPECT_EQ(read.found().bad_blocks, 0U);
  expect_sums(read);
}

TEST_F(MpiBEffIoLoop, OvertimeEndsItForEachRankWhereCallsAreItsOwn) {
  store_.in_move = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  BEffIoLoop counted = loop(Pointer::individual);
  counted.run(10000, world_.rank() == 0 ? 0.01 : 0.03);
  EXPECT_EQ(counted.end(), BEffIoEnd::overtime);
  EXPECT_LE(counted.done(), world_.rank() == 0 ? 10U : 30U);
}

TEST_F(MpiBEffIoLoop, OvertimeEndsItTogetherWhereCallsAre) {
  store_.in_move = [] { std::this_thread::sleep_for(std::chrono::milliseconds(1)); };
  BEffIoLoop counted = loop(Pointer::ordered);
  counted.run(10000, 0.02);
  EXPECT_EQ(counted.end(), BEffIoEnd::overtime);
  EXPECT_LE(counted.done(), 25U);
  EXPECT_EQ(world_.all().max(static_cast<std::int64_t>(counted.done())), static_cast<std::int64_t>(counted.done()));
}

TEST_F(MpiBEffIoLoop, ARankInErrorGoesAlongWhereCallsAreTogether) {
  const bool fails = world_.rank() == world_.size() - 1;
  if (fails) store_.fails_at = 3;
  BEffIoLoop counted = loop(Pointer::together);
  counted.run(100, for_ever);
  EXPECT_EQ(counted.status().has_value(), !fails);
  EXPECT_EQ(counted.done(), fails ? 3U : 100U);
  EXPECT_EQ(store_.empty_moves, fails ? 97 : 0);
  if (fails) {
    EXPECT_EQ(counted.status().error().errno_value, ENOSPC);
  }
}

TEST_F(MpiBEffIoLoop, ARankInErrorEndsAloneWhereCallsAreItsOwn) {
  const bool fails = world_.rank() == world_.size() - 1;
  if (fails) store_.fails_at = 3;
  BEffIoLoop counted = loop(Pointer::individual);
  counted.run(100, for_ever);
  EXPECT_EQ(counted.done(), fails ? 3U : 100U);
  EXPECT_EQ(counted.end(), fails ? BEffIoEnd::stopped : BEffIoEnd::count);
  EXPECT_EQ(store_.empty_moves, fails ? 1 : 0);
}

TEST_F(MpiBEffIoLoop, AnErrorOfTheFirstRankEndsATimedPattern) {
  if (world_.root()) store_.fails_at = 3;
  BEffIoLoop timed = loop(Pointer::individual);
  timed.run({BEffIoRule::predicted, 1000, 1000000});
  EXPECT_EQ(timed.end(), BEffIoEnd::stopped);
  EXPECT_EQ(timed.done(), world_.root() ? 3U : 4U);
}

TEST_F(MpiBEffIoLoop, ARequestToStopEndsIt) {
  StopFlags::instance().stop_now();
  BEffIoLoop timed = loop(Pointer::together);
  timed.run({BEffIoRule::predicted, 1000, 1000000});
  EXPECT_EQ(timed.end(), BEffIoEnd::stopped);
  for (const Pointer pointer : {Pointer::together, Pointer::individual}) {
    BEffIoLoop counted = loop(pointer);
    counted.run(1000000, for_ever);
    EXPECT_EQ(counted.end(), BEffIoEnd::stopped);
    EXPECT_EQ(counted.done(), 1U);
  }
}

TEST(BEffIoTimes, AccountedIsTheSumOfWhatIsTimedInALoop) {
  const BEffIoTimes times{1'000'000'000, 2'000'000, 3'000'000, 4'000'000, 5, 6, 7, 8, 9, 10};
  const Gauges gauges = times.gauges();
  EXPECT_DOUBLE_EQ(gauges.at("pattern_s"), 1.009);
  EXPECT_DOUBLE_EQ(gauges.at("calls_s") + gauges.at("barrier_s") + gauges.at("agree_s") + gauges.at("sync_s"), 1.009);
  EXPECT_DOUBLE_EQ(gauges.at("payload_s"), 1e-8);
  EXPECT_EQ(gauges.size(), 11U);
}

}  // namespace ullage::b_eff_io_loop_test

namespace ullage::b_eff_io_buffers_test {

using Block = std::vector<std::byte>;

BEffIoContents contents(std::uint64_t call_bytes) {
  BEffIoContents contents;
  contents.key = 11;
  contents.pattern = 5;
  contents.call_bytes = call_bytes;
  contents.writer = 3;
  return contents;
}

/// More than there are buffers.
int some_calls(std::uint64_t call_bytes) {
  if (call_bytes < 1000) return 20000;
  return call_bytes < 10000 ? 2500 : 70;
}

std::vector<Block> written(const BEffIoContents& contents, int generation, int calls) {
  AlignedBuffer memory;
  BEffIoBuffers buffers(memory, contents);
  buffers.fill(generation);
  std::vector<Block> all;
  for (int i = 0; i < calls; ++i) {
    const auto buffer = buffers.next_to_write();
    EXPECT_EQ(buffer.size(), contents.call_bytes);
    EXPECT_EQ(buffers.call(), static_cast<std::uint64_t>(i));
    all.emplace_back(buffer.begin(), buffer.end());
  }
  return all;
}

/// Bad blocks of each call.
std::vector<std::uint64_t> read(const BEffIoContents& contents, const std::vector<Block>& data) {
  AlignedBuffer memory;
  BEffIoBuffers buffers(memory, contents);
  buffers.poison();
  std::vector<std::uint64_t> bad;
  for (const Block& block : data) {
    std::ranges::copy(block, buffers.next_to_read().begin());
    bad.push_back(buffers.check().bad_blocks);
  }
  return bad;
}

TEST(BEffIoBuffers, AsManyAsMake256KibibytesButOneAtLeast) {
  AlignedBuffer memory;
  EXPECT_EQ(BEffIoBuffers(memory, contents(1024)).count(), 256U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(1032)).count(), 254U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(1 << 20)).count(), 1U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(20 << 20)).count(), 1U);
  EXPECT_EQ(BEffIoBuffers(memory, contents(8)).count(), 16384U);
  EXPECT_GE(memory.size(), 20U << 20) << "grown, never shrunk";
}

TEST(BEffIoBuffers, NoTwoCallsHaveTheSameContents) {
  for (const std::uint64_t bytes : {8U, 24U, 1032U, 32776U, 600000U}) {
    const auto all = written(contents(bytes), 1, some_calls(bytes));
    EXPECT_EQ(std::set<Block>(all.begin(), all.end()).size(), all.size()) << bytes;
  }
}

TEST(BEffIoBuffers, WhatWasWrittenIsRecognised) {
  for (const std::uint64_t bytes : {8U, 24U, 1032U, 32776U, 600000U}) {
    const auto all = written(contents(bytes), 1, some_calls(bytes));
    for (const std::uint64_t bad : read(contents(bytes), all)) EXPECT_EQ(bad, 0U) << bytes;
  }
}

TEST(BEffIoBuffers, OtherCallsPatternsRanksAndDatasetsAreNot) {
  const BEffIoContents own = contents(1032);
  auto swapped = written(own, 1, 2000);
  std::swap(swapped[7], swapped[7 + 1016]);
  const auto bad = read(own, swapped);
  EXPECT_EQ(bad[7], 3U) << "tags of all three blocks differ";
  EXPECT_EQ(bad[7 + 1016], 3U);
  EXPECT_EQ(std::ranges::count(bad, 0U), 1998);
  for (const auto& change : {+[](BEffIoContents& c) { ++c.key; }, +[](BEffIoContents& c) { ++c.pattern; },
                             +[](BEffIoContents& c) { ++c.writer; }}) {
    BEffIoContents other = own;
    change(other);
    for (const std::uint64_t blocks : read(own, written(other, 1, 3))) EXPECT_EQ(blocks, 3U);
  }
  for (const std::uint64_t blocks : read(own, written(own, 2, 3))) EXPECT_EQ(blocks, 3U);
}

TEST(BEffIoBuffers, ARewriteThatWasCutIsOfTwoGenerations) {
  BEffIoContents own = contents(4096);
  auto data = written(own, 2, 300);
  const auto before = written(own, 1, 300);
  std::copy(before.begin() + 120, before.end(), data.begin() + 120);
  own.rewritten = 100;
  own.rewritten_by_some = 150;  // this rank came to 120
  for (const std::uint64_t bad : read(own, data)) EXPECT_EQ(bad, 0U);
  own.rewritten_by_some = 110;
  EXPECT_EQ(read(own, data)[115], 8U);
  std::swap(data[99], data[100]);
  EXPECT_EQ(read(own, data)[99], 8U);
}

TEST(BEffIoBuffers, WhatWasNotFilledIsFound) {
  AlignedBuffer memory;
  BEffIoBuffers buffers(memory, contents(512));
  buffers.poison();
  for (int i = 0; i < 5000; ++i) {
    (void)buffers.next_to_read();
    const auto found = buffers.check();
    ASSERT_EQ(found.bad_blocks, 1U);
    ASSERT_NE(found.first->found.find("buffer not filled"), std::string::npos) << found.first->found;
  }
}

}  // namespace ullage::b_eff_io_buffers_test
