// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "message/patterns/pattern.hpp"

namespace ullage {

/// Rings of about `target` ranks each that hold all `ranks` >= 2: no ring has exactly as many where that leaves some
/// over, all differ by one at most, and those of an even size have the lowest ranks, so that they do not straddle
/// nodes. Source: b_eff 3.6.
[[nodiscard]] Rings ring_set(int ranks, int target);

/// The sizes that b_eff's six ring patterns aim at; equal ones are kept.
[[nodiscard]] std::array<int, 6> ring_targets(int ranks);

/// b_eff's, `ring-0` to `ring-5`.
[[nodiscard]] std::vector<Pattern> ring_patterns(int ranks);

/// All ranks in one ring, in their own order or in another: HPCC's natural and random ring, b_eff's random patterns.
[[nodiscard]] Pattern one_ring(std::string name, int ranks, std::vector<int> order = {});

/// Returns what a rank does where a ring of two has both messages, too, as HPCC's rings do: to the next and to the one
/// before, which then are the same.
[[nodiscard]] std::vector<mpi::MessageStep> steps_both_ways(const Pattern& rings, int rank);

/// Returns how many ranks each ring has, in order of their places.
[[nodiscard]] std::vector<int> sizes_of(const Rings& rings);

}  // namespace ullage
