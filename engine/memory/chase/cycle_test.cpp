// SPDX-License-Identifier: Apache-2.0
#include "memory/chase/cycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace ullage::chase_cycle_test {
namespace {

std::byte* next(const std::byte* slot) {
  std::byte* to = nullptr;
  std::memcpy(static_cast<void*>(&to), slot, sizeof to);
  return to;
}

TEST(ChaseOrder, NamesEverySlotOnce) {
  for (const std::uint64_t local : {1000U, 16U, 17U, 1U}) {
    auto order = chase_order(1000, local, 5);
    std::ranges::sort(order);
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i) << local;
  }
}

TEST(ChaseOrder, IsRandomAndSeeded) {
  EXPECT_EQ(chase_order(1000, 1000, 5), chase_order(1000, 1000, 5));
  EXPECT_NE(chase_order(1000, 1000, 5), chase_order(1000, 1000, 6));
  const auto order = chase_order(1000, 1000, 5);
  int neighbours = 0;
  for (std::size_t i = 1; i < order.size(); ++i) neighbours += order[i] == order[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(neighbours, 20);  // one is expected
}

TEST(ChaseOrder, LeavesANeighbourhoodOnlyWhenAllOfItWasVisited) {
  constexpr std::uint64_t local = 48;
  const auto order = chase_order(1000, local, 5);  // the last neighbourhood has 40
  std::set<std::uint64_t> left;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t place = order[i] / local;
    ASSERT_FALSE(left.contains(place)) << i;
    if (i + 1 < order.size() && order[i + 1] / local != place) left.insert(place);
  }
  EXPECT_EQ(left.size(), 1000 / local);
  EXPECT_FALSE(std::ranges::is_sorted(order, {}, [](std::uint32_t slot) { return slot / local; }));
}

TEST(ChaseCycle, IsOneSingleCycleOverAllSlots) {
  for (const ChaseShape& shape : {ChaseShape{64 * 1024, 64, 0}, ChaseShape{64 * 1000, 64, 4096}, ChaseShape{4096, 8, 0},
                                  ChaseShape{128, 64, 0}}) {
    const auto cycle = ChaseCycle::make(shape, Pages::system, -1, 9);
    ASSERT_TRUE(cycle);
    std::set<const std::byte*> seen;
    const std::byte* at = cycle->slot_after(0);
    for (std::uint64_t step = 0; step < shape.slots(); ++step) {
      ASSERT_EQ(at, cycle->slot_after(step));
      seen.insert(at);
      at = next(at);
    }
    EXPECT_EQ(seen.size(), shape.slots());
    EXPECT_EQ(at, cycle->slot_after(0));
    const std::byte* const first = *seen.begin();
    for (const std::byte* const slot : seen) EXPECT_EQ((slot - first) % static_cast<std::ptrdiff_t>(shape.stride), 0);
    EXPECT_EQ(*seen.rbegin() - first, static_cast<std::ptrdiff_t>(shape.stride * (shape.slots() - 1)));
  }
}

TEST(Chase, EveryNumberOfChainsEndsWhereTheCycleLeads) {
  const auto cycle = ChaseCycle::make({64 * 100, 64, 0}, Pages::system, -1, 9);
  ASSERT_TRUE(cycle);
  for (std::size_t chains = 1; chains <= most_chains; ++chains) {
    std::array<const std::byte*, most_chains> at{};
    for (std::size_t chain = 0; chain < chains; ++chain) at.at(chain) = cycle->slot_after(5 * chain);
    chase(std::span(at).first(chains), 3 * chase_unroll);
    for (std::size_t chain = 0; chain < chains; ++chain)
      EXPECT_EQ(at.at(chain), cycle->slot_after(5 * chain + 3 * chase_unroll)) << chains;
    for (std::size_t chain = chains; chain < most_chains; ++chain) EXPECT_EQ(at.at(chain), nullptr);
  }
}

}  // namespace
}  // namespace ullage::chase_cycle_test
