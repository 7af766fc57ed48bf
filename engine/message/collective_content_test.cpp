// SPDX-License-Identifier: Apache-2.0
#include "message/collective_content.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::collective_content_test {

using mpi::Collective;

constexpr int ranks = 3;

std::vector<std::byte> given(const mpi::CollectiveShape& shape, int rank) {
  std::vector<std::byte> out(mpi::room_of(shape, ranks).out);
  CollectiveContent(shape, rank, ranks, 5).fill(out);
  return out;
}

std::vector<std::byte> poisoned(const mpi::CollectiveShape& shape) {
  std::vector<std::byte> in(mpi::room_of(shape, ranks).in);
  CollectiveContent::poison(in);
  return in;
}

bool is_right(const mpi::CollectiveShape& shape, int rank, const std::vector<std::byte>& in, int root) {
  return CollectiveContent(shape, rank, ranks, 5).check(in, root).has_value();
}

TEST(CollectiveContent, NothingThatWasNotSetPasses) {
  for (const Collective collective : {Collective::bcast, Collective::allreduce, Collective::scatter,
                                      Collective::allgather, Collective::alltoallv, Collective::reduce_scatter}) {
    const mpi::CollectiveShape shape{collective, 12, mpi::Element::fp32};
    EXPECT_FALSE(is_right(shape, 1, poisoned(shape), 0));
  }
}

TEST(CollectiveContent, RanksThatGetNothingHaveNothingToCheck) {
  const auto bytes = [](Collective collective, int rank, int root) {
    return CollectiveContent({collective, 12, mpi::Element::fp32}, rank, ranks, 5).expected_bytes(root);
  };
  EXPECT_EQ(bytes(Collective::barrier, 0, 0), 0U);
  EXPECT_EQ(bytes(Collective::bcast, 1, 1), 0U);
  EXPECT_EQ(bytes(Collective::bcast, 0, 1), 12U);
  EXPECT_EQ(bytes(Collective::gather, 0, 1), 0U);
  EXPECT_EQ(bytes(Collective::gather, 1, 1), 36U);
  EXPECT_EQ(bytes(Collective::reduce, 0, 1), 0U);
  EXPECT_EQ(bytes(Collective::reduce, 1, 1), 12U);
  EXPECT_EQ(bytes(Collective::reduce_scatter, 2, 0), 4U);
}

TEST(CollectiveContent, ABlockOfTheWrongRankIsFound) {
  const mpi::CollectiveShape shape{Collective::allgather, 5, mpi::Element::fp32};
  std::vector<std::byte> in;
  for (const int from : {0, 1, 2}) {
    const auto block = given(shape, from);
    in.insert(in.end(), block.begin(), block.end());
  }
  EXPECT_TRUE(is_right(shape, 1, in, 0));
  std::swap_ranges(in.begin(), in.begin() + 5, in.begin() + 5);
  const auto wrong = CollectiveContent(shape, 1, ranks, 5).check(in, 0);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().offset_bytes, 0U);
}

TEST(CollectiveContent, OfAnAlltoallEachRankHasItsOwnBlock) {
  const mpi::CollectiveShape shape{Collective::alltoall, 8, mpi::Element::fp32};
  const auto received = [&](std::size_t by) {
    std::vector<std::byte> in;
    for (const int from : {0, 1, 2}) {
      const auto out = given(shape, from);
      in.insert(in.end(), out.begin() + static_cast<std::ptrdiff_t>(8 * by),
                out.begin() + static_cast<std::ptrdiff_t>(8 * by) + 8);
    }
    return in;
  };
  EXPECT_TRUE(is_right(shape, 2, received(2), 0));
  EXPECT_FALSE(is_right(shape, 2, received(1), 0));
}

/// A sum that lacks a rank, or has one twice, is another one.
TEST(CollectiveContent, SumsTellWhoIsMissing) {
  const mpi::CollectiveShape shape{Collective::allreduce, 8, mpi::Element::fp64};
  const auto sum_of = [&](const std::vector<int>& from) {
    double sum = 0;
    for (const int rank : from) {
      double number = 0;
      std::memcpy(&number, given(shape, rank).data(), sizeof(number));
      sum += number;
    }
    std::vector<std::byte> in(sizeof(sum));
    std::memcpy(in.data(), &sum, sizeof(sum));
    return in;
  };
  EXPECT_TRUE(is_right(shape, 0, sum_of({0, 1, 2}), 0));
  EXPECT_FALSE(is_right(shape, 0, sum_of({1, 2}), 0));
  EXPECT_FALSE(is_right(shape, 0, sum_of({0, 0, 1, 2}), 0));
}

}  // namespace ullage::collective_content_test
