// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/std.hpp"
#include "message/patterns/pattern.hpp"
#include "message/patterns/rank_order.hpp"
#include "message/patterns/ring_sizes.hpp"

namespace ullage {

/// Along each dimension alone, then along all at once.
inline void add_cyclic_halos(int ranks, int dimensions, std::vector<Pattern>& patterns) {
  const std::string prefix = "cyclic-" + std::to_string(dimensions) + "d-";
  Pattern all = halo(prefix + "all", ranks, dimensions, true);
  const std::vector<int> extents = std::get<Grid>(all.shape).extents;
  for (int d = 0; d < dimensions; ++d)
    if (extents[static_cast<std::size_t>(d)] > 1)
      patterns.push_back(halo_along(prefix + static_cast<char>('x' + d), ranks, dimensions, d));
  patterns.push_back(std::move(all));
}

/// `worst-cyclic`, the bisections, `ping-pong`, `acyclic-2d-all` ... `cyclic-3d-all`.
[[nodiscard]] inline std::vector<Pattern> additional_patterns(int ranks) {
  std::vector<Pattern> patterns{one_ring("worst-cyclic", ranks, folded_order(ranks)), best_bisection(ranks),
                                worst_bisection(ranks), first_pair()};
  for (const int dimensions : {2, 3})
    patterns.push_back(halo("acyclic-" + std::to_string(dimensions) + "d-all", ranks, dimensions, false));
  for (const int dimensions : {2, 3}) add_cyclic_halos(ranks, dimensions, patterns);
  return patterns;
}

/// b_eff's patterns in their order: six of rings, random rings, and those that are reported beside the result. Of the
/// last, grids have only the dimensions along which `ranks` make more than one place.
class BEffPatterns final {
 public:
  struct Options {
    int ranks = 2;
    std::size_t random_rings = 30;
    std::uint64_t seed = 1;
    RandomOrder permutation = RandomOrder::uniform;
    bool additional = true;
  };

  explicit BEffPatterns(const Options& options) : options_(options), rings_(ring_patterns(options.ranks)) {
    if (options.additional) additional_ = additional_patterns(options.ranks);
  }

  [[nodiscard]] std::size_t size() const { return rings_.size() + options_.random_rings + additional_.size(); }

  /// Random orders are drawn when asked for: one at a time takes memory.
  [[nodiscard]] Pattern make(std::size_t index) const {
    if (index < rings_.size()) return rings_[index];
    const std::size_t random = index - rings_.size();
    if (random >= options_.random_rings) return additional_[random - options_.random_rings];
    const std::string number = std::to_string(random);
    return one_ring("random-" + std::string(number.size() < 2 ? "0" : "") + number, options_.ranks,
                    random_order(options_.permutation, options_.ranks, options_.seed, random));
  }

  /// The one pair sends by one method only, as there is nothing to overlap.
  [[nodiscard]] bool has_one_method(std::size_t index) const {
    const std::size_t first = rings_.size() + options_.random_rings;
    return index >= first && additional_[index - first].name == "ping-pong";
  }

 private:
  Options options_;
  std::vector<Pattern> rings_;
  std::vector<Pattern> additional_;
};

}  // namespace ullage
