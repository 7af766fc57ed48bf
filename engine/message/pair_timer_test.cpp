// SPDX-License-Identifier: Apache-2.0
#include "message/pair_timer.hpp"

#include <gtest/gtest.h>

namespace ullage::pair_timer_test {

class MpiPairTimer : public ::testing::TestWithParam<PairJob> {
 protected:
  /// Ranks 0 and 1, if there are two; the others wait.
  void measure(PairTimer& timer) {
    if (world_.rank() == 0) took_s_ = timer.ask(1);
    if (world_.rank() == 1) timer.answer(0);
    world_.barrier();
  }

  mpi::Comm world_ = mpi::Comm::world().duplicate();
  double took_s_ = 0;
};

TEST_P(MpiPairTimer, MessagesArriveWholeAndAreCounted) {
  if (world_.size() < 2) GTEST_SKIP() << "one rank";
  const PairJob& job = GetParam();
  PairTimer timer(world_, world_.rank(), job, 5);
  measure(timer);
  EXPECT_EQ(timer.found().bad_blocks, 0U);
  const bool both = job.traffic == PairTraffic::ping_pong;
  const std::uint64_t all = job.loops * job.measurements * job.message_bytes;
  const int rank = world_.rank();
  if (rank == 0) {
    EXPECT_GT(took_s_, 0);
  }
  EXPECT_EQ(timer.sent_bytes(), rank == 0 || (rank == 1 && both) ? all : 0);
  const std::uint64_t received = both ? job.measurements * job.message_bytes : all;
  EXPECT_EQ(timer.found().verified_bytes, rank == 1 || (rank == 0 && both) ? received : 0);
}

TEST_P(MpiPairTimer, ARankWithOtherContentsIsFound) {
  if (world_.size() < 2) GTEST_SKIP() << "one rank";
  PairTimer timer(world_, world_.rank(), GetParam(), world_.rank() == 0 ? 5 : 6);
  measure(timer);
  if (world_.rank() != 1) return;
  ASSERT_TRUE(timer.found().first.has_value());
  EXPECT_EQ(timer.found().first->kind, ErrorKind::verification);
  EXPECT_EQ(timer.found().first->where, "message from rank 0");
}

INSTANTIATE_TEST_SUITE_P(Jobs, MpiPairTimer,
                         ::testing::Values(PairJob{PairTraffic::ping_pong, 8, 8, 5},
                                           PairJob{PairTraffic::ping_pong, 3, 1, 1},
                                           PairJob{PairTraffic::ping_pong, 100'001, 2, 2},
                                           PairJob{PairTraffic::one_way, 1, 9, 2},
                                           PairJob{PairTraffic::one_way, 70'000, 8, 2}));

}  // namespace ullage::pair_timer_test
