// SPDX-License-Identifier: Apache-2.0
// Which ranks are disturbed and which disturb, and in which order those that are disturbed stand in a ring. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace ullage {

/// `share` of the ranks, rounded, at least 2, and so that at least 2 others are left. 4 ranks or more.
[[nodiscard]] int count_of_victims(int ranks, double share);

/// `count` of `ranks` ranks, rising; each choice is as likely as any other.
[[nodiscard]] std::vector<int> choose_victims(int ranks, int count, std::uint64_t seed);

/// The numbers below `count` in an order that is as likely as any other, for ring number `ring`.
[[nodiscard]] std::vector<int> ring_order(int count, std::uint64_t seed, std::uint64_t ring);

}  // namespace ullage
