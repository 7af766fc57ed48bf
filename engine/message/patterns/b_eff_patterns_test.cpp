// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/b_eff_patterns.hpp"

#include <gtest/gtest.h>

#include "message/patterns/test_support.hpp"

namespace ullage::b_eff_patterns_test {

BEffPatterns of(int ranks, std::size_t random_rings = 30, bool additional = true) {
  BEffPatterns::Options options;
  options.ranks = ranks;
  options.random_rings = random_rings;
  options.additional = additional;
  return BEffPatterns(options);
}

std::vector<std::string> names(const BEffPatterns& patterns) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < patterns.size(); ++i) found.push_back(patterns.make(i).name);
  return found;
}

/// Published, of the original with two random rings on five ranks, but for the first (see RingSizes).
TEST(BEffPatterns, MessagesOfFiveRanksAsInTheOriginal) {
  const BEffPatterns patterns = of(5, 2);
  std::vector<std::uint64_t> found;
  for (std::size_t i = 0; i < patterns.size(); ++i) found.push_back(test::messages_of(patterns.make(i)));
  EXPECT_EQ(found, (std::vector<std::uint64_t>{8, 10, 10, 10, 10, 10, 10, 10, 10, 4, 4, 2, 8, 8, 4, 4, 8, 4, 4, 8}));
}

TEST(BEffPatterns, ThirteenMoreWhereGridsHaveAllTheirDimensions) {
  const std::vector<std::pair<int, std::size_t>> golden{{2, 10}, {3, 10}, {4, 12},  {5, 12},  {6, 12},
                                                        {7, 12}, {8, 13}, {24, 13}, {127, 13}};
  for (const auto& [ranks, expected] : golden) EXPECT_EQ(additional_patterns(ranks).size(), expected) << ranks;
}

TEST(BEffPatterns, OrderIsTheOriginals) {
  const auto all = names(of(8));
  ASSERT_EQ(all.size(), 49U);
  EXPECT_EQ(all[0], "ring-0");
  EXPECT_EQ(all[6], "random-00");
  EXPECT_EQ(all[35], "random-29");
  const std::vector<std::string> last(all.begin() + 36, all.end());
  EXPECT_EQ(last,
            (std::vector<std::string>{"worst-cyclic", "best-bisection", "worst-bisection", "ping-pong",
                                      "acyclic-2d-all", "acyclic-3d-all", "cyclic-2d-x", "cyclic-2d-y", "cyclic-2d-all",
                                      "cyclic-3d-x", "cyclic-3d-y", "cyclic-3d-z", "cyclic-3d-all"}));
  EXPECT_EQ(names(of(2)).back(), "cyclic-3d-all");
  EXPECT_EQ(names(of(2, 0)).size(), 16U);
  EXPECT_EQ(names(of(8, 3, false)).size(), 9U);
  EXPECT_EQ(names(of(2, 101))[106], "random-100");
}

TEST(BEffPatterns, OnePairHasOneMethod) {
  const BEffPatterns patterns = of(8);
  for (std::size_t i = 0; i < patterns.size(); ++i) EXPECT_EQ(patterns.has_one_method(i), i == 39) << i;
}

TEST(BEffPatterns, RandomPatternsAreOneRingEach) {
  const BEffPatterns patterns = of(10);
  EXPECT_EQ(std::get<Rings>(patterns.make(6).shape), (Rings{1, 10, 0, 0}));
  EXPECT_NE(patterns.make(6).order, patterns.make(7).order);
  EXPECT_EQ(patterns.make(6).order, random_order(RandomOrder::uniform, 10, 1, 0));
}

TEST(BEffPatterns, WorstCyclicGoesToAndFro) {
  const Pattern worst = additional_patterns(5).front();
  EXPECT_EQ(worst.order, (std::vector{0, 4, 1, 3, 2}));
  EXPECT_EQ(test::messages_of(worst), 10U);
}

}  // namespace ullage::b_eff_patterns_test
