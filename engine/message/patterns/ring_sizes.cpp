// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/ring_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace ullage {

Rings ring_set(int ranks, int target) {
  const int wanted = static_cast<int>(std::floor(static_cast<double>(ranks) / target + 0.4));
  const int rings = std::clamp(wanted, 1, std::max(1, ranks / 2));
  const int low = ranks / rings;
  const int high_rings = ranks - low * rings;
  const int low_rings = rings - high_rings;
  if (high_rings == 0) return {low_rings, low, 0, 0};
  if (low % 2 == 1) return {high_rings, low + 1, low_rings, low};
  return {low_rings, low, high_rings, low + 1};
}

std::array<int, 6> ring_targets(int ranks) {
  std::array<int, 6> targets{2, 4, 8, std::max(16, ranks / 4), std::max(32, ranks / 2), ranks};
  for (int& target : targets) target = std::min(target, ranks);
  return targets;
}

std::vector<Pattern> ring_patterns(int ranks) {
  std::vector<Pattern> patterns;
  for (const int target : ring_targets(ranks))
    patterns.push_back({"ring-" + std::to_string(patterns.size()), {}, ring_set(ranks, target)});
  return patterns;
}

Pattern one_ring(std::string name, int ranks, std::vector<int> order) {
  return {std::move(name), std::move(order), Rings{1, ranks, 0, 0}};
}

std::vector<mpi::MessageStep> steps_both_ways(const Pattern& rings, int rank) {
  std::vector<mpi::MessageStep> steps = steps_of(rings, rank);
  if (steps.size() == 1) steps.push_back({steps.front().from, steps.front().to, steps.front().tag + 1});
  return steps;
}

std::vector<int> sizes_of(const Rings& rings) {
  std::vector<int> sizes(static_cast<std::size_t>(rings.first), rings.first_size);
  sizes.insert(sizes.end(), static_cast<std::size_t>(rings.second), rings.second_size);
  return sizes;
}

}  // namespace ullage
