// SPDX-License-Identifier: Apache-2.0
// Which rank sends to which: pure functions of the number of ranks, never of a clock or of MPI.
#pragma once

#include <numeric>
#include <variant>

#include "base/permutation.hpp"
#include "base/std.hpp"
#include "mpi/messages.hpp"

namespace ullage {

/// A place is a rank's number within a pattern, from 0. The shape says which places send to each other.

/// Consecutive places make rings; each place sends to the next and to the one before it, in a ring of two once.
struct Rings {
  int first = 0;  // rings of first_size, then `second` of second_size
  int first_size = 0;
  int second = 0;
  int second_size = 0;
  friend bool operator==(const Rings&, const Rings&) = default;
};

/// Places are numbered with the last extent running fastest. Each sends both ways along the dimensions listed, in a
/// periodic one of two places once.
struct Grid {
  std::vector<int> extents;
  bool periodic = false;
  std::vector<int> along;
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Places 2i and 2i + 1: the first sends, then the second answers.
struct Pairs {
  int count = 0;
  friend bool operator==(const Pairs&, const Pairs&) = default;
};

/// Any messages. By sendrecv each place does its own in this order, which so cannot deadlock.
struct Links {
  struct Link {
    int from = 0;
    int to = 0;
    friend bool operator==(const Link&, const Link&) = default;
  };
  int places = 0;
  std::vector<Link> links;
  friend bool operator==(const Links&, const Links&) = default;
};

struct Pattern {
  std::string name;
  std::vector<int> order;  // the rank at each place; empty: its own number
  std::variant<Rings, Grid, Pairs, Links> shape;
};

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

/// Ranks that take part: those at places below this.
[[nodiscard]] inline int places_of(const Pattern& pattern) { return std::visit(PlacesOf{}, pattern.shape); }

[[nodiscard]] inline int rank_at(const Pattern& pattern, int place) {
  return pattern.order.empty() ? place : pattern.order[static_cast<std::size_t>(place)];
}

using MessageSteps = std::vector<mpi::MessageStep>;

/// Both messages have tags of their own: in between any two places there may be one each way of either.
inline constexpr int tag_forward = 0;
inline constexpr int tag_back = 1;

/// To the next and to the one before, or once where they are the same.
inline void add_neighbours(MessageSteps& steps, int before, int next) {
  steps.push_back({next, before, tag_forward});
  if (before != next || before == mpi::MessageStep::nobody) steps.push_back({before, next, tag_back});
}

/// Gives the steps in terms of places.
struct StepsAt {
  int place;

  MessageSteps operator()(const Rings& rings) const {
    const int second_from = rings.first * rings.first_size;
    const bool in_first = place < second_from;
    const int size = in_first ? rings.first_size : rings.second_size;
    const int inside = in_first ? place % size : (place - second_from) % size;
    const int start = place - inside;
    MessageSteps steps;
    if (size > 1) add_neighbours(steps, start + (inside + size - 1) % size, start + (inside + 1) % size);
    return steps;
  }

  MessageSteps operator()(const Grid& grid) const {
    MessageSteps steps;
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

  MessageSteps operator()(const Pairs&) const {
    const int nobody = mpi::MessageStep::nobody;
    const int partner = place ^ 1;
    if (place % 2 == 0) return {{partner, nobody, tag_forward}, {nobody, partner, tag_back}};
    return {{nobody, partner, tag_forward}, {partner, nobody, tag_back}};
  }

  MessageSteps operator()(const Links& links) const {
    MessageSteps steps;
    for (const auto& [from, to] : links.links) {
      if (from == place) steps.push_back({to, mpi::MessageStep::nobody, tag_forward});
      if (to == place) steps.push_back({mpi::MessageStep::nobody, from, tag_forward});
    }
    return steps;
  }
};

/// Returns what the rank at that place does in an iteration, in terms of ranks. O(1), with Links O(links).
[[nodiscard]] inline std::vector<mpi::MessageStep> steps_at(const Pattern& pattern, int place) {
  MessageSteps steps = std::visit(StepsAt{place}, pattern.shape);
  const auto to_rank = [&](int& end) {
    if (end != mpi::MessageStep::nobody) end = rank_at(pattern, end);
  };
  for (mpi::MessageStep& step : steps) {
    to_rank(step.to);
    to_rank(step.from);
  }
  return steps;
}

/// Returns the same of a rank, nothing for one that takes no part. Takes O(ranks) with an order of its own.
[[nodiscard]] inline std::vector<mpi::MessageStep> steps_of(const Pattern& pattern, int rank) {
  int place = rank;
  if (!pattern.order.empty()) {
    const auto found = std::ranges::find(pattern.order, rank);
    place = static_cast<int>(found - pattern.order.begin());
  }
  if (place >= places_of(pattern)) return {};
  return steps_at(pattern, place);
}

/// Messages that one rank sends in an iteration, by its steps.
[[nodiscard]] inline std::uint64_t sends_of(const std::vector<mpi::MessageStep>& steps) {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(steps, [](const auto& step) { return step.to != mpi::MessageStep::nobody; }));
}

/// Is the same for two patterns in which every rank does the same, the steps in any order. Different patterns share one
/// by a chance of about 2^-64.
[[nodiscard]] inline std::uint64_t fingerprint(const Pattern& pattern) {
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

// Halo exchanges on grids of ranks.

/// Goes through all ways to write `left` as a product of `more` factors that do not grow, and keeps the one whose
/// first and last differ least.
inline void choose_extents(int left, int more, std::vector<int>& begun, std::vector<int>& best, int& best_spread) {
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

/// Extents as equal as factors allow, largest first, with `ranks` as their product.
[[nodiscard]] inline std::vector<int> balanced_extents(int ranks, int dimensions) {
  std::vector<int> begun;
  std::vector<int> best;
  int spread = std::numeric_limits<int>::max();
  choose_extents(ranks, dimensions, begun, best, spread);
  return best;
}

/// The largest number of these ranks >= 2 that makes a grid: with more than one place along its last dimension, unless
/// there are too few (below 4, or an even number below 8). Source: b_eff 3.6.
[[nodiscard]] inline int grid_ranks(int ranks, int dimensions) {
  int used = ranks;
  while (used >= 4 && !(used < 8 && used % 2 == 0) && balanced_extents(used, dimensions).back() == 1) --used;
  return used;
}

inline Grid grid_of(int ranks, int dimensions, bool periodic) {
  Grid grid{balanced_extents(grid_ranks(ranks, dimensions), dimensions), periodic, {}};
  grid.along.resize(grid.extents.size());
  std::iota(grid.along.begin(), grid.along.end(), 0);
  return grid;
}

/// Both neighbours along every dimension, on as many of the ranks as grid_ranks() says.
[[nodiscard]] inline Pattern halo(std::string name, int ranks, int dimensions, bool periodic) {
  return {std::move(name), {}, grid_of(ranks, dimensions, periodic)};
}

/// Both neighbours along one dimension only, periodically.
[[nodiscard]] inline Pattern halo_along(std::string name, int ranks, int dimensions, int dimension) {
  Grid grid = grid_of(ranks, dimensions, true);
  grid.along = {dimension};
  return {std::move(name), {}, std::move(grid)};
}

}  // namespace ullage
