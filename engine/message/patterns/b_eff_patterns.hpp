// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "message/patterns/pattern.hpp"
#include "message/patterns/rank_order.hpp"

namespace ullage {

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
  explicit BEffPatterns(const Options& options);

  [[nodiscard]] std::size_t size() const;
  /// Random orders are drawn when asked for: one at a time takes memory.
  [[nodiscard]] Pattern make(std::size_t index) const;
  /// The one pair sends by one method only, as there is nothing to overlap.
  [[nodiscard]] bool has_one_method(std::size_t index) const;

 private:
  Options options_;
  std::vector<Pattern> rings_;
  std::vector<Pattern> additional_;
};

/// `worst-cyclic`, the bisections, `ping-pong`, `acyclic-2d-all` ... `cyclic-3d-all`.
[[nodiscard]] std::vector<Pattern> additional_patterns(int ranks);

}  // namespace ullage
