// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/work.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::congestion_work_test {

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

TEST(CongestionRoles, AFifthOfTheRanksAndNeverFewerThanTwoOfEither) {
  EXPECT_EQ(count_of_victims(4, 0.2), 2);
  EXPECT_EQ(count_of_victims(8, 0.2), 2);
  EXPECT_EQ(count_of_victims(13, 0.2), 3);
  EXPECT_EQ(count_of_victims(100, 0.2), 20);
  EXPECT_EQ(count_of_victims(5, 0.9), 3);
}

TEST(CongestionRoles, VictimsAreDifferentRanksAndTheSameForTheSameSeed) {
  const std::vector<int> victims = choose_victims(50, 10, 3);
  EXPECT_EQ(std::set<int>(victims.begin(), victims.end()).size(), 10U);
  EXPECT_TRUE(std::ranges::is_sorted(victims));
  EXPECT_GE(victims.front(), 0);
  EXPECT_LT(victims.back(), 50);
  EXPECT_EQ(victims, choose_victims(50, 10, 3));
  EXPECT_NE(victims, choose_victims(50, 10, 4));
}

/// Each of the 10 choices of 2 out of 5 about 500 times in 5000; the bounds are six standard deviations.
TEST(CongestionRoles, EveryChoiceOfVictimsIsAsLikely) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) ++seen[choose_victims(5, 2, seed)];
  EXPECT_EQ(seen.size(), 10U);
  for (const auto& [victims, times] : seen) {
    EXPECT_GT(times, 372);
    EXPECT_LT(times, 628);
  }
}

/// Also those that leave somebody in his place: a shuffle that is always a single cycle knows 6 of 24.
TEST(CongestionRoles, EveryOrderOfARingIsAsLikely) {
  std::map<std::vector<int>, int> seen;
  for (std::uint64_t ring = 0; ring < 4800; ++ring) ++seen[ring_order(4, 1, ring)];
  EXPECT_EQ(seen.size(), 24U);
  for (const auto& [order, times] : seen) {
    EXPECT_GT(times, 117);
    EXPECT_LT(times, 283);
  }
}

}  // namespace ullage::congestion_work_test
