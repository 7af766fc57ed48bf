// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/cartesian.hpp"

#include <limits>
#include <numeric>
#include <utility>

namespace ullage {
namespace {

/// Goes through all ways to write `left` as a product of `more` factors that do not grow, and keeps the one whose
/// first and last differ least.
void choose_extents(int left, int more, std::vector<int>& begun, std::vector<int>& best, int& best_spread) {
  const int most = begun.empty() ? left : begun.back();
  if (more == 1) {
    if (left > most) return;
    const int spread = (begun.empty() ? left : begun.front()) - left;
    if (spread >= best_spread) return;
    best_spread = spread;
    best = begun;
    best.push_back(left);
    return;
  }
  for (int factor = 1; factor <= most && factor <= left; ++factor) {
    if (left % factor != 0) continue;
    begun.push_back(factor);
    choose_extents(left / factor, more - 1, begun, best, best_spread);
    begun.pop_back();
  }
}

Grid grid_of(int ranks, int dimensions, bool periodic) {
  Grid grid{balanced_extents(grid_ranks(ranks, dimensions), dimensions), periodic, {}};
  grid.along.resize(grid.extents.size());
  std::iota(grid.along.begin(), grid.along.end(), 0);
  return grid;
}

}  // namespace

std::vector<int> balanced_extents(int ranks, int dimensions) {
  std::vector<int> begun;
  std::vector<int> best;
  int spread = std::numeric_limits<int>::max();
  choose_extents(ranks, dimensions, begun, best, spread);
  return best;
}

int grid_ranks(int ranks, int dimensions) {
  int used = ranks;
  while (used >= 4 && !(used < 8 && used % 2 == 0) && balanced_extents(used, dimensions).back() == 1) --used;
  return used;
}

Pattern halo(std::string name, int ranks, int dimensions, bool periodic) {
  return {std::move(name), {}, grid_of(ranks, dimensions, periodic)};
}

Pattern halo_along(std::string name, int ranks, int dimensions, int dimension) {
  Grid grid = grid_of(ranks, dimensions, true);
  grid.along = {dimension};
  return {std::move(name), {}, std::move(grid)};
}

}  // namespace ullage
