// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/work.hpp"

#include <gtest/gtest.h>

namespace ullage::congestion_work_test {
namespace {

RingWork::Shape ring_of(std::size_t message_bytes, std::size_t outstanding) {
  return {message_bytes, outstanding, 3, 7};
}

TEST(MpiCongestionWork, RingsBringWhatTheRankBeforeHasSent) {
  const mpi::Comm comm = mpi::Comm::world();
  for (const RingWork::Shape& shape : {ring_of(8, 1), ring_of(1001, 4)}) {
    RingWork work(comm, shape, 3);
    for (const std::uint64_t ring : {0, 1, 2}) {
      EXPECT_FALSE(work.is_right(ring)) << "nothing has come yet";
      work.run(ring);
      work.run(ring);
      EXPECT_TRUE(work.is_right(ring));
    }
  }
}

/// Each rank fills its messages by a key of its own, so that nobody gets what it expects.
TEST(MpiCongestionWork, WrongMessagesAreFound) {
  const mpi::Comm comm = mpi::Comm::world();
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  RingWork work(comm, ring_of(64, 2), static_cast<std::uint64_t>(comm.rank()) << 32);
  work.run(0);
  EXPECT_FALSE(work.is_right(0));
}

TEST(MpiCongestionWork, SumsAreThoseOfAllRanks) {
  const mpi::Comm comm = mpi::Comm::world();
  AllreduceWork work(comm, 16, 5);
  EXPECT_FALSE(work.is_right(0)) << "nothing has come yet";
  work.run(0);
  EXPECT_TRUE(work.is_right(0));
}

}  // namespace
}  // namespace ullage::congestion_work_test
