// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "base/std.hpp"
#include "message/patterns/pattern.hpp"

namespace ullage {

/// Rings of about `target` ranks each that hold all `ranks` >= 2: no ring has exactly as many where that leaves some
/// over, all differ by one at most, and those of an even size have the lowest ranks, so that they do not straddle
/// nodes. Source: b_eff 3.6.
[[nodiscard]] inline Rings ring_set(int ranks, int target) {
  const int wanted = static_cast<int>(std::floor(static_cast<double>(ranks) / target + 0.4));
  const int rings = std::clamp(wanted, 1, std::max(1, ranks / 2));
  const int low = ranks / rings;
  const int high_rings = ranks - low * rings;
  const int low_rings = rings - high_rings;
  if (high_rings == 0) return {low_rings, low, 0, 0};
  if (low % 2 == 1) return {high_rings, low + 1, low_rings, low};
  return {low_rings, low, high_rings, low + 1};
}

/// The sizes that b_eff's six ring patterns aim at; equal ones are kept.
[[nodiscard]] inline std::array<int, 6> ring_targets(int ranks) {
  std::array<int, 6> targets{2, 4, 8, std::max(16, ranks / 4), std::max(32, ranks / 2), ranks};
  for (int& target : targets) target = std::min(target, ranks);
  return targets;
}

/// b_eff's, `ring-0` to `ring-5`.
[[nodiscard]] inline std::vector<Pattern> ring_patterns(int ranks) {
  std::vector<Pattern> patterns;
  for (const int target : ring_targets(ranks))
    patterns.push_back({"ring-" + std::to_string(patterns.size()), {}, ring_set(ranks, target)});
  return patterns;
}

/// All ranks in one ring, in their own order or in another: HPCC's natural and random ring, b_eff's random patterns.
[[nodiscard]] inline Pattern one_ring(std::string name, int ranks, std::vector<int> order = {}) {
  return {std::move(name), std::move(order), Rings{1, ranks, 0, 0}};
}

/// Returns what a rank does where a ring of two has both messages, too, as HPCC's rings do: to the next and to the one
/// before, which then are the same.
[[nodiscard]] inline std::vector<mpi::MessageStep> steps_both_ways(const Pattern& rings, int rank) {
  std::vector<mpi::MessageStep> steps = steps_of(rings, rank);
  if (steps.size() == 1) steps.push_back({steps.front().from, steps.front().to, steps.front().tag + 1});
  return steps;
}

/// Returns how many ranks each ring has, in order of their places.
[[nodiscard]] inline std::vector<int> sizes_of(const Rings& rings) {
  std::vector<int> sizes(static_cast<std::size_t>(rings.first), rings.first_size);
  sizes.insert(sizes.end(), static_cast<std::size_t>(rings.second), rings.second_size);
  return sizes;
}

}  // namespace ullage
