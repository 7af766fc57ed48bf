// SPDX-License-Identifier: Apache-2.0
#include "mpi/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace ullage::mpi::collectives_test {
namespace {

/// `out` and `in` of one rank, filled with a byte of its own.
struct Buffers {
  Buffers(const CollectiveShape& shape, const Comm& comm)
      : out(room_of(shape, comm.size()).out, std::byte(comm.rank() + 1)), in(room_of(shape, comm.size()).in) {}
  std::vector<std::byte> out;
  std::vector<std::byte> in;
};

TEST(Collectives, SharesOfAVectorCoverItOnceTheLargerFirst) {
  for (const std::size_t elements : {0, 1, 7, 12, 100}) {
    std::size_t next = 0;
    for (int rank = 0; rank < 5; ++rank) {
      const ElementShare share = share_of(elements, rank, 5);
      EXPECT_EQ(share.first, next);
      EXPECT_LE(share.count, share_of(elements, 0, 5).count);
      EXPECT_GE(share.count + 1, share_of(elements, 0, 5).count);
      next += share.count;
    }
    EXPECT_EQ(next, elements);
  }
}

TEST(Collectives, RoomIsWhatARankGivesAndGets) {
  const auto room = [](Collective collective) {
    const CollectiveRoom both = room_of({collective, 100, Element::fp32}, 3);
    return std::pair(both.out, both.in);
  };
  EXPECT_EQ(room(Collective::barrier), std::pair(std::size_t{0}, std::size_t{0}));
  EXPECT_EQ(room(Collective::bcast), std::pair(std::size_t{100}, std::size_t{100}));
  EXPECT_EQ(room(Collective::allgatherv), std::pair(std::size_t{100}, std::size_t{300}));
  EXPECT_EQ(room(Collective::scatter), std::pair(std::size_t{300}, std::size_t{100}));
  EXPECT_EQ(room(Collective::alltoall), std::pair(std::size_t{300}, std::size_t{300}));
  // 25 numbers for 3 ranks: 9, 8 and 8.
  EXPECT_EQ(room(Collective::reduce_scatter), std::pair(std::size_t{100}, std::size_t{36}));
}

TEST(Collectives, CountsThatHaveToFitAreThoseThatACallIsTold) {
  const auto count = [](Collective collective, std::size_t bytes) {
    return largest_count({collective, bytes, Element::fp64}, 100'000);
  };
  constexpr std::size_t mebi = 1 << 20;
  EXPECT_EQ(count(Collective::allreduce, mebi), mebi / 8) << "elements, however many ranks there are";
  EXPECT_EQ(count(Collective::reduce_scatter, mebi), mebi / 8);
  EXPECT_EQ(count(Collective::bcast, mebi), mebi);
  EXPECT_EQ(count(Collective::alltoall, mebi), mebi) << "each pair of ranks moves a message of its own";
  for (const Collective gathers :
       {Collective::gather, Collective::scatter, Collective::allgather, Collective::allgatherv, Collective::alltoallv})
    EXPECT_EQ(count(gathers, mebi), 100'000 * mebi);
  EXPECT_EQ(count(Collective::barrier, 0), 0U);
}

/// Both kinds of counts, where the MPI has both: the same buffers come out.
TEST(MpiCollectives, LargeCountsGiveTheSameAsSmallOnes) {
  if (!has_large_counts()) GTEST_SKIP() << "not available: the large counts of MPI 4";
  const Comm comm = Comm::world();
  for (const Collective collective :
       {Collective::barrier, Collective::bcast, Collective::reduce, Collective::allreduce, Collective::gather,
        Collective::scatter, Collective::allgather, Collective::allgatherv, Collective::alltoall, Collective::alltoallv,
        Collective::reduce_scatter}) {
    const CollectiveShape shape{collective, collective == Collective::barrier ? 0U : 48U, Element::fp32};
    Buffers usual(shape, comm);
    Buffers large(shape, comm);
    CollectiveCall(comm, shape, usual.out, usual.in).run(0);
    CollectiveCall call(comm, shape, large.out, large.in, CallCounts::large);
    call.run(0);
    EXPECT_EQ(usual.in, large.in) << static_cast<int>(collective);
    std::ranges::fill(large.in, std::byte{0});
    call.start(0);
    call.wait();
    EXPECT_EQ(usual.in, large.in) << static_cast<int>(collective) << ", nonblocking";
  }
}

TEST(MpiCollectives, ABcastLeavesTheRootsInAlone) {
  const Comm comm = Comm::world();
  const CollectiveShape shape{Collective::bcast, 3, Element::fp32};
  Buffers buffers(shape, comm);
  CollectiveCall call(comm, shape, buffers.out, buffers.in);
  const int root = comm.size() - 1;
  call.run(root);
  EXPECT_EQ(buffers.in.front(), comm.rank() == root ? std::byte{0} : std::byte(root + 1));
}

TEST(MpiCollectives, TheNonblockingFormGivesTheSame) {
  const Comm comm = Comm::world();
  const CollectiveShape shape{Collective::allgather, 5, Element::fp32};
  Buffers buffers(shape, comm);
  CollectiveCall call(comm, shape, buffers.out, buffers.in);
  call.start(0);
  while (!call.test()) {
  }
  call.wait();
  for (int from = 0; from < comm.size(); ++from)
    EXPECT_EQ(buffers.in[static_cast<std::size_t>(from) * 5 + 4], std::byte(from + 1));
}

TEST(MpiCollectives, AReductionAddsNumbersOfItsType) {
  const Comm comm = Comm::world();
  const CollectiveShape shape{Collective::allreduce, 16, Element::fp64};
  const std::vector<double> mine{1.5, static_cast<double>(comm.rank())};
  Buffers buffers(shape, comm);
  std::memcpy(buffers.out.data(), mine.data(), 16);
  CollectiveCall call(comm, shape, buffers.out, buffers.in);
  call.run(0);
  std::vector<double> sums(2);
  std::memcpy(sums.data(), buffers.in.data(), 16);
  const int ranks = comm.size();
  EXPECT_EQ(sums, (std::vector<double>{1.5 * ranks, ranks * (ranks - 1) / 2.0}));
}

}  // namespace
}  // namespace ullage::mpi::collectives_test
