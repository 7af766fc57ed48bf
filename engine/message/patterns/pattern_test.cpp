// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/pattern.hpp"

#include <gtest/gtest.h>

#include <set>

#include "message/patterns/b_eff_patterns.hpp"
#include "message/patterns/test_support.hpp"

namespace ullage::pattern_test {
namespace {

using mpi::MessageStep;
constexpr int nobody = MessageStep::nobody;

std::vector<Pattern> all_of_b_eff(int ranks) {
  BEffPatterns::Options options;
  options.ranks = ranks;
  options.random_rings = 2;
  const BEffPatterns patterns(options);
  std::vector<Pattern> all;
  for (std::size_t i = 0; i < patterns.size(); ++i) all.push_back(patterns.make(i));
  return all;
}

/// Returns how often there is a message from one rank to another with a tag, by the steps of one side.
std::map<std::array<int, 3>, int> messages(const Pattern& pattern, int ranks, bool sent) {
  std::map<std::array<int, 3>, int> found;
  for (int rank = 0; rank < ranks; ++rank)
    for (const MessageStep& step : steps_of(pattern, rank)) {
      if (sent && step.to != nobody) ++found[{rank, step.to, step.tag}];
      if (!sent && step.from != nobody) ++found[{step.from, rank, step.tag}];
    }
  return found;
}

TEST(Pattern, WhatIsSentIsReceivedAndNothingElse) {
  for (int ranks = 2; ranks <= 33; ++ranks)
    for (const Pattern& pattern : all_of_b_eff(ranks)) {
      const auto sent = messages(pattern, ranks, true);
      EXPECT_EQ(sent, messages(pattern, ranks, false)) << pattern.name << " of " << ranks;
      EXPECT_EQ(sent.size(), test::messages_of(pattern)) << pattern.name << " of " << ranks;
    }
}

/// MPI_Alltoallv can carry one message a pair, each way.
TEST(Pattern, NobodySendsTwiceToAnybodyOrToItself) {
  for (int ranks = 2; ranks <= 33; ++ranks)
    for (const Pattern& pattern : all_of_b_eff(ranks)) {
      std::set<std::pair<int, int>> pairs;
      for (const auto& [message, times] : messages(pattern, ranks, true)) {
        EXPECT_EQ(times, 1);
        EXPECT_NE(message[0], message[1]);
        EXPECT_TRUE(pairs.insert({message[0], message[1]}).second) << pattern.name << " of " << ranks;
      }
    }
}

/// A call a step that waits for its other side, as MPI does with long messages. Returns how many steps were left
/// undone.
std::size_t steps_left(const Pattern& pattern, int ranks) {
  struct Half {
    std::size_t step = 0;
    bool sent = false;
    bool received = false;
  };
  std::vector<std::vector<MessageStep>> steps;
  for (int rank = 0; rank < ranks; ++rank) steps.push_back(steps_of(pattern, rank));
  std::vector<Half> at(steps.size());
  const auto current = [&](int rank) -> const MessageStep* {
    const auto r = static_cast<std::size_t>(rank);
    return at[r].step < steps[r].size() ? &steps[r][at[r].step] : nullptr;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (int rank = 0; rank < ranks; ++rank) {
      Half& half = at[static_cast<std::size_t>(rank)];
      const MessageStep* const step = current(rank);
      if (step == nullptr) continue;
      if (step->to != nobody && !half.sent) {
        const MessageStep* const other = current(step->to);
        Half& there = at[static_cast<std::size_t>(step->to)];
        if (other != nullptr && other->from == rank && other->tag == step->tag && !there.received)
          half.sent = there.received = moved = true;
      }
      if ((step->to == nobody || half.sent) && (step->from == nobody || half.received)) {
        half = {half.step + 1, false, false};
        moved = true;
      }
    }
  }
  std::size_t left = 0;
  for (std::size_t rank = 0; rank < steps.size(); ++rank) left += steps[rank].size() - at[rank].step;
  return left;
}

TEST(Pattern, CallsThatWaitForTheirOtherSideComeToAnEnd) {
  for (int ranks = 2; ranks <= 30; ++ranks)
    for (const Pattern& pattern : all_of_b_eff(ranks)) EXPECT_EQ(steps_left(pattern, ranks), 0U) << pattern.name;
}

TEST(Pattern, RingSendsToTheNextThenToTheOneBefore) {
  const Pattern rings{"r", {}, Rings{1, 2, 1, 3}};
  EXPECT_EQ(steps_of(rings, 0), (std::vector<MessageStep>{{1, 1, 0}}));
  EXPECT_EQ(steps_of(rings, 2), (std::vector<MessageStep>{{3, 4, 0}, {4, 3, 1}}));
  EXPECT_EQ(steps_of(rings, 4), (std::vector<MessageStep>{{2, 3, 0}, {3, 2, 1}}));
  EXPECT_EQ(places_of(rings), 5);
}

TEST(Pattern, OrderSaysWhichRankIsAtAPlace) {
  const Pattern ring{"r", {2, 0, 3, 1}, Rings{1, 4, 0, 0}};
  EXPECT_EQ(rank_at(ring, 2), 3);
  EXPECT_EQ(steps_of(ring, 0), (std::vector<MessageStep>{{3, 2, 0}, {2, 3, 1}}));
  EXPECT_EQ(steps_of(ring, 2), steps_at(ring, 0));
}

TEST(Pattern, WhoHasNoPlaceHasNoSteps) {
  EXPECT_TRUE(steps_of({"p", {}, Pairs{1}}, 2).empty());
  EXPECT_TRUE(steps_of({"p", {3, 1}, Pairs{1}}, 0).empty());
  EXPECT_TRUE(steps_of({"r", {}, Rings{1, 1, 0, 0}}, 0).empty());
}

TEST(Pattern, SecondOfAPairAnswers) {
  const Pattern pair{"p", {3, 1}, Pairs{1}};
  EXPECT_EQ(steps_of(pair, 3), (std::vector<MessageStep>{{1, nobody, 0}, {nobody, 1, 1}}));
  EXPECT_EQ(steps_of(pair, 1), (std::vector<MessageStep>{{nobody, 3, 0}, {3, nobody, 1}}));
}

TEST(Pattern, GridHasTheLastExtentRunningFastest) {
  const Pattern halo{"h", {}, Grid{{2, 3}, false, {0, 1}}};
  EXPECT_EQ(steps_of(halo, 0),
            (std::vector<MessageStep>{{3, nobody, 0}, {nobody, 3, 1}, {1, nobody, 0}, {nobody, 1, 1}}));
  EXPECT_EQ(steps_of(halo, 4), (std::vector<MessageStep>{{nobody, 1, 0}, {1, nobody, 1}, {5, 3, 0}, {3, 5, 1}}));
  const Pattern torus{"t", {}, Grid{{2, 3}, true, {0, 1}}};
  EXPECT_EQ(steps_of(torus, 5), (std::vector<MessageStep>{{2, 2, 0}, {3, 4, 0}, {4, 3, 1}}));
  const Pattern along{"a", {}, Grid{{2, 3}, true, {1}}};
  EXPECT_EQ(steps_of(along, 5), (std::vector<MessageStep>{{3, 4, 0}, {4, 3, 1}}));
}

TEST(Pattern, LinksAreDoneInTheirOrder) {
  const Pattern links{"l", {}, Links{4, {{1, 0}, {0, 2}, {2, 0}}}};
  EXPECT_EQ(steps_of(links, 0), (std::vector<MessageStep>{{nobody, 1, 0}, {2, nobody, 0}, {nobody, 2, 0}}));
  EXPECT_EQ(steps_of(links, 3), std::vector<MessageStep>{});
  EXPECT_EQ(test::messages_of(links), 3U);
  EXPECT_EQ(steps_left(links, 4), 0U);
}

TEST(Pattern, FingerprintTellsWhatIsDoneAndNotHowItIsWritten) {
  const Pattern ring{"a", {}, Rings{1, 5, 0, 0}};
  const Pattern turned{"b", {2, 3, 4, 0, 1}, Rings{1, 5, 0, 0}};
  const Pattern mirrored{"c", {4, 3, 2, 1, 0}, Rings{1, 5, 0, 0}};
  const Pattern other{"d", {1, 0, 2, 3, 4}, Rings{1, 5, 0, 0}};
  EXPECT_EQ(fingerprint(ring), fingerprint(turned));
  EXPECT_EQ(fingerprint(ring), fingerprint(mirrored));
  EXPECT_NE(fingerprint(ring), fingerprint(other));
  // These are the same messages, but one after the other.
  EXPECT_NE(fingerprint({"r", {}, Rings{2, 2, 0, 0}}), fingerprint({"p", {}, Pairs{2}}));
}

TEST(Cartesian, ExtentsAreAsEqualAsFactorsAllow) {
  EXPECT_EQ(balanced_extents(12, 2), (std::vector{4, 3}));
  EXPECT_EQ(balanced_extents(12, 3), (std::vector{3, 2, 2}));
  EXPECT_EQ(balanced_extents(24, 3), (std::vector{4, 3, 2}));
  EXPECT_EQ(balanced_extents(64, 3), (std::vector{4, 4, 4}));
  EXPECT_EQ(balanced_extents(7, 2), (std::vector{7, 1}));
  EXPECT_EQ(balanced_extents(6, 3), (std::vector{3, 2, 1}));
  EXPECT_EQ(balanced_extents(1, 2), (std::vector{1, 1}));
  EXPECT_EQ(balanced_extents(1000, 3), (std::vector{10, 10, 10}));
}

TEST(Cartesian, RanksThatMakeNoGridAreLeftOut) {
  const std::vector<std::pair<int, std::pair<int, int>>> golden{
      {2, {2, 2}}, {3, {3, 3}}, {4, {4, 4}},   {5, {4, 4}},    {6, {6, 6}},      {7, {6, 6}},
      {8, {8, 8}}, {9, {9, 8}}, {11, {10, 8}}, {13, {12, 12}}, {127, {126, 126}}};
  for (const auto& [ranks, used] : golden) {
    EXPECT_EQ(grid_ranks(ranks, 2), used.first) << ranks;
    EXPECT_EQ(grid_ranks(ranks, 3), used.second) << ranks;
  }
}

TEST(Cartesian, HaloHasAMessageEachWayForEachNeighbour) {
  // Twice the sum over the dimensions of (extent - 1) n / extent.
  EXPECT_EQ(test::messages_of(halo("a", 12, 2, false)), 2U * (9 + 8));
  EXPECT_EQ(test::messages_of(halo("a", 24, 3, false)), 2U * (18 + 16 + 12));
  EXPECT_EQ(test::messages_of(halo("c", 27, 3, true)), 6U * 27);
  EXPECT_EQ(test::messages_of(halo("c", 24, 3, true)),
            5U * 24);  // both neighbours along the extent of two are the same
  EXPECT_EQ(test::messages_of(halo_along("x", 27, 3, 0)), 2U * 27);
}

TEST(Cartesian, LeftOutRanksHaveNoSteps) {
  const Pattern torus = halo("c", 5, 2, true);
  EXPECT_EQ(places_of(torus), 4);
  EXPECT_TRUE(steps_of(torus, 4).empty());
  EXPECT_EQ(steps_of(torus, 0).size(), 2U);
}

TEST(Cartesian, AlongOneDimensionNeighboursDifferInItOnly) {
  const auto along_x = steps_of(halo_along("x", 12, 2, 0), 0);
  EXPECT_EQ(along_x, (std::vector<mpi::MessageStep>{{3, 9, 0}, {9, 3, 1}}));
  const auto along_y = steps_of(halo_along("y", 12, 2, 1), 0);
  EXPECT_EQ(along_y, (std::vector<mpi::MessageStep>{{1, 2, 0}, {2, 1, 1}}));
}

}  // namespace

}  // namespace ullage::pattern_test
