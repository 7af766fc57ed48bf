// SPDX-License-Identifier: Apache-2.0
// Orders in which ranks take the places of a pattern, and the pairs of two halves of them.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parameters.hpp"
#include "message/patterns/pattern.hpp"

namespace ullage {

/// uniform: every order is equally likely · slot-probe: as b_eff and HPCC draw theirs, by a place for each rank in turn
/// and the next free one where that is taken; neighbours then stay neighbours more often than by chance.
enum class RandomOrder { uniform, slot_probe };
[[nodiscard]] Words<RandomOrder> random_order_words();

/// A function of its arguments: the same on every rank, machine and MPI.
[[nodiscard]] std::vector<int> random_order(RandomOrder kind, int ranks, std::uint64_t seed, std::uint64_t index);

/// 0, n - 1, 1, n - 2, ...: neighbours are as far from each other as can be.
[[nodiscard]] std::vector<int> folded_order(int ranks);

// Patterns of pairs; of an odd number of ranks the last takes no part.

/// Each rank with the one beside it: 0 and 1, 2 and 3 ...
[[nodiscard]] Pattern best_bisection(int ranks);

/// The first with the last, the second with the last but one ...
[[nodiscard]] Pattern worst_bisection(int ranks);

/// Ranks 0 and 1; all others wait.
[[nodiscard]] Pattern first_pair();

}  // namespace ullage
