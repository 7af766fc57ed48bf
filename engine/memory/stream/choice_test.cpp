// SPDX-License-Identifier: Apache-2.0
#include "memory/stream/choice.hpp"

#include <gtest/gtest.h>

#include "memory/stream/test_support.hpp"

namespace ullage::stream_choice_test {

constexpr std::size_t mib = std::size_t{1} << 20U;

template <int milliseconds>
std::uint64_t pause_so_long(const StreamJob&) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  return 0;
}

StreamLoops loops_of(StreamLoop loop) {
  StreamLoops loops;
  for (auto& of_kind : loops.loops) of_kind = {loop, loop};
  return loops;
}

TEST(StreamChoice, FastestIsTakenWhereverItStands) {
  const StreamLoops slow = loops_of(pause_so_long<5>);
  const StreamLoops fast = loops_of(pause_so_long<0>);
  test::StreamArrays arrays(4096);
  const StreamJob job = arrays.job();
  EXPECT_EQ(&fastest_of({&slow, &fast}, StreamKind::read, Stores::ordinary, job), &fast);
  EXPECT_EQ(&fastest_of({&fast, &slow}, StreamKind::read, Stores::ordinary, job), &fast);
  EXPECT_EQ(&fastest_of({&slow}, StreamKind::read, Stores::ordinary, job), &slow);
}

TEST(StreamChoice, CandidatesAreThoseOfTheWidthThatHaveTheLoop) {
  const auto all = stream_candidates(StreamKind::triad, Stores::ordinary, 0);
  ASSERT_EQ(all.size(), stream_loops_here().size());
  EXPECT_EQ(all.back(), test::stream_loops_of("baseline"));
  EXPECT_TRUE(std::ranges::is_sorted(all, std::greater{}, &StreamLoops::vector_bytes));
  EXPECT_EQ(stream_candidates(StreamKind::triad, Stores::ordinary, 16), std::vector{test::stream_loops_of("baseline")});
  EXPECT_TRUE(stream_candidates(StreamKind::triad, Stores::ordinary, 24).empty());
  EXPECT_TRUE(stream_candidates(StreamKind::read, Stores::non_temporal, 0).empty());
}

TEST(StreamChoice, TrialsGoThroughLargeArraysPieceByPiece) {
  StreamJob job;
  test::Lines memory(64);
  job.a = memory.data();
  job.b = memory.data();
  job.c = memory.data();
  job.block_bytes = mib;
  job.blocks = 11;  // two pieces and a rest
  EXPECT_EQ(trial_of(job, 0).a - job.a, 0);
  EXPECT_EQ(trial_of(job, 1).a - job.a, static_cast<std::ptrdiff_t>(4 * mib));
  EXPECT_EQ(trial_of(job, 2).a - job.a, 0);
  EXPECT_EQ(trial_of(job, 1).c - job.c, static_cast<std::ptrdiff_t>(4 * mib));
  EXPECT_EQ(trial_of(job, 1).block_bytes * trial_of(job, 1).blocks, 4 * mib);
  EXPECT_EQ(trial_of(job, 1).passes, 1U);
}

TEST(StreamChoice, TrialsGoThroughSmallArraysMoreThanOnce) {
  test::StreamArrays arrays(4096);
  StreamJob job = arrays.job();
  const std::vector<std::uint32_t> order{1, 0};
  job.block_bytes = 2048;
  job.blocks = 2;
  job.order = order.data();
  const StreamJob trial = trial_of(job, 3);
  EXPECT_EQ(trial.a, job.a);
  EXPECT_EQ(trial.block_bytes, 4096U);
  EXPECT_EQ(trial.passes, 4 * mib / 4096);
  EXPECT_EQ(trial.order, nullptr);
}

}  // namespace ullage::stream_choice_test
