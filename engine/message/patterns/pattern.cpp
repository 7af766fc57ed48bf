// SPDX-License-Identifier: Apache-2.0
#include "message/patterns/pattern.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/permutation.hpp"

namespace ullage {
namespace {

using Steps = std::vector<mpi::MessageStep>;

/// Both messages have tags of their own: in between any two places there may be one each way of either.
constexpr int tag_forward = 0;
constexpr int tag_back = 1;

/// To the next and to the one before, or once where they are the same.
void add_neighbours(Steps& steps, int before, int next) {
  steps.push_back({next, before, tag_forward});
  if (before != next || before == mpi::MessageStep::nobody) steps.push_back({before, next, tag_back});
}

struct PlacesOf {
  int operator()(const Rings& rings) const { return rings.first * rings.first_size + rings.second * rings.second_size; }
  int operator()(const Grid& grid) const {
    int places = 1;
    for (const int extent : grid.extents) places *= extent;
    return places;
  }
  int operator()(const Pairs& pairs) const { return 2 * pairs.count; }
  int operator()(const Links& links) const { return links.places; }
};

/// Gives the steps in terms of places.
struct StepsAt {
  int place;

  Steps operator()(const Rings& rings) const {
    const int second_from = rings.first * rings.first_size;
    const bool in_first = place < second_from;
    const int size = in_first ? rings.first_size : rings.second_size;
    const int inside = in_first ? place % size : (place - second_from) % size;
    const int start = place - inside;
    Steps steps;
    if (size > 1) add_neighbours(steps, start + (inside + size - 1) % size, start + (inside + 1) % size);
    return steps;
  }

  Steps operator()(const Grid& grid) const {
    Steps steps;
    for (const int dimension : grid.along) {
      int stride = 1;
      for (std::size_t d = grid.extents.size() - 1; d > static_cast<std::size_t>(dimension); --d)
        stride *= grid.extents[d];
      const int extent = grid.extents[static_cast<std::size_t>(dimension)];
      const int here = place / stride % extent;
      const auto neighbour = [&](int there) {
        if (!grid.periodic && (there < 0 || there >= extent)) return mpi::MessageStep::nobody;
        return place + ((there + extent) % extent - here) * stride;
      };
      if (extent > 1) add_neighbours(steps, neighbour(here - 1), neighbour(here + 1));
    }
    return steps;
  }

  Steps operator()(const Pairs&) const {
    const int nobody = mpi::MessageStep::nobody;
    const int partner = place ^ 1;
    if (place % 2 == 0) return {{partner, nobody, tag_forward}, {nobody, partner, tag_back}};
    return {{nobody, partner, tag_forward}, {partner, nobody, tag_back}};
  }

  Steps operator()(const Links& links) const {
    Steps steps;
    for (const auto& [from, to] : links.links) {
      if (from == place) steps.push_back({to, mpi::MessageStep::nobody, tag_forward});
      if (to == place) steps.push_back({mpi::MessageStep::nobody, from, tag_forward});
    }
    return steps;
  }
};

}  // namespace

int places_of(const Pattern& pattern) { return std::visit(PlacesOf{}, pattern.shape); }

int rank_at(const Pattern& pattern, int place) {
  return pattern.order.empty() ? place : pattern.order[static_cast<std::size_t>(place)];
}

std::vector<mpi::MessageStep> steps_at(const Pattern& pattern, int place) {
  Steps steps = std::visit(StepsAt{place}, pattern.shape);
  const auto to_rank = [&](int& end) {
    if (end != mpi::MessageStep::nobody) end = rank_at(pattern, end);
  };
  for (mpi::MessageStep& step : steps) {
    to_rank(step.to);
    to_rank(step.from);
  }
  return steps;
}

std::vector<mpi::MessageStep> steps_of(const Pattern& pattern, int rank) {
  int place = rank;
  if (!pattern.order.empty()) {
    const auto found = std::ranges::find(pattern.order, rank);
    place = static_cast<int>(found - pattern.order.begin());
  }
  if (place >= places_of(pattern)) return {};
  return steps_at(pattern, place);
}

std::uint64_t sends_of(const std::vector<mpi::MessageStep>& steps) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(steps, [](const auto& step) { return step.to != mpi::MessageStep::nobody; }));
}

std::uint64_t fingerprint(const Pattern& pattern) {
  std::uint64_t sum = 0;
  for (int place = 0; place < places_of(pattern); ++place) {
    const auto rank = static_cast<std::uint64_t>(rank_at(pattern, place));
    for (const mpi::MessageStep& step : steps_at(pattern, place)) {
      const std::uint64_t to = mix64(rank) ^ static_cast<std::uint64_t>(step.to);
      sum += mix64(mix64(to) ^ static_cast<std::uint64_t>(step.from));
    }
  }
  return sum;
}

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
