// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/ring_sizes.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "message/patterns/test_support.hpp"

namespace ullage::ring_sizes_test {

/// "15x2+1x3", the smaller size first.
std::string text_of(const Rings& rings) {
  const auto part = [](int count, int size) { return std::to_string(count) + "x" + std::to_string(size); };
  const std::string first = part(rings.first, rings.first_size);
  if (rings.second == 0) return first;
  const std::string second = part(rings.second, rings.second_size);
  return rings.first_size < rings.second_size ? first + "+" + second : second + "+" + first;
}

/// Published: the rings of the original for these numbers of ranks.
TEST(RingSizes, SixPatternsAsInTheOriginal) {
  const std::vector<std::pair<int, std::string>> golden{{2, "1x2 1x2 1x2 1x2 1x2 1x2"},
                                                        {3, "1x3 1x3 1x3 1x3 1x3 1x3"},
                                                        {5, "1x2+1x3 1x5 1x5 1x5 1x5 1x5"},
                                                        {7, "2x2+1x3 1x3+1x4 1x7 1x7 1x7 1x7"},
                                                        {15, "6x2+1x3 1x3+3x4 1x7+1x8 1x15 1x15 1x15"},
                                                        {17, "7x2+1x3 3x4+1x5 1x8+1x9 1x17 1x17 1x17"},
                                                        {24, "12x2 6x4 3x8 1x24 1x24 1x24"},
                                                        {33, "15x2+1x3 7x4+1x5 3x8+1x9 1x16+1x17 1x33 1x33"},
                                                        {100, "50x2 25x4 8x8+4x9 4x25 2x50 1x100"},
                                                        {127, "62x2+1x3 1x3+31x4 1x7+15x8 1x31+3x32 1x63+1x64 1x127"},
                                                        {1000, "500x2 250x4 125x8 4x250 2x500 1x1000"}};
  for (const auto& [ranks, expected] : golden) {
    std::string found;
    for (const Pattern& pattern : ring_patterns(ranks))
      found += (found.empty() ? "" : " ") + text_of(std::get<Rings>(pattern.shape));
    EXPECT_EQ(found, expected) << ranks;
  }
}

TEST(RingSizes, EvenRingsHaveTheLowestRanks) {
  EXPECT_EQ(ring_set(33, 2), (Rings{15, 2, 1, 3}));
  EXPECT_EQ(ring_set(127, 8), (Rings{15, 8, 1, 7}));
  EXPECT_EQ(ring_set(33, 16), (Rings{1, 16, 1, 17}));
}

TEST(RingSizes, RingsHoldAllRanksAndDifferByOneAtMost) {
  for (int ranks = 2; ranks <= 300; ++ranks)
    for (const int target : ring_targets(ranks)) {
      const std::vector<int> sizes = sizes_of(ring_set(ranks, target));
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), 0), ranks);
      EXPECT_LE(std::ranges::max(sizes) - std::ranges::min(sizes), 1) << ranks << " by " << target;
      EXPECT_GE(std::ranges::min(sizes), 2);
    }
}

TEST(RingSizes, MessagesAreCountedOfAllRanks) {
  const auto counts = [](int ranks) {
    std::vector<std::uint64_t> messages;
    for (const Pattern& pattern : ring_patterns(ranks)) messages.push_back(test::messages_of(pattern));
    return messages;
  };
  EXPECT_EQ(counts(2), (std::vector<std::uint64_t>{2, 2, 2, 2, 2, 2}));
  // The original says 5 for the first: it takes rank 0's for everybody's.
  EXPECT_EQ(counts(5), (std::vector<std::uint64_t>{8, 10, 10, 10, 10, 10}));
  EXPECT_EQ(counts(24), (std::vector<std::uint64_t>{24, 48, 48, 48, 48, 48}));
}

TEST(RingSizes, BothWaysHasTwoMessagesInARingOfTwo) {
  EXPECT_EQ(steps_both_ways(one_ring("r", 2), 0), (std::vector<mpi::MessageStep>{{1, 1, 0}, {1, 1, 1}}));
  EXPECT_EQ(steps_both_ways(one_ring("r", 4), 0), steps_of(one_ring("r", 4), 0));
  EXPECT_TRUE(steps_both_ways(one_ring("r", 4), 4).empty());
}

TEST(RingSizes, NamesCountFromZero) {
  const auto patterns = ring_patterns(4);
  ASSERT_EQ(patterns.size(), 6U);
  EXPECT_EQ(patterns.front().name, "ring-0");
  EXPECT_EQ(patterns.back().name, "ring-5");
}

}  // namespace ullage::ring_sizes_test
