// SPDX-License-Identifier: Apache-2.0
// Which rank sends to which: pure functions of the number of ranks, never of a clock or of MPI.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

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

/// Ranks that take part: those at places below this.
[[nodiscard]] int places_of(const Pattern& pattern);
[[nodiscard]] int rank_at(const Pattern& pattern, int place);
/// Returns what the rank at that place does in an iteration, in terms of ranks. O(1), with Links O(links).
[[nodiscard]] std::vector<mpi::MessageStep> steps_at(const Pattern& pattern, int place);
/// Returns the same of a rank, nothing for one that takes no part. Takes O(ranks) with an order of its own.
[[nodiscard]] std::vector<mpi::MessageStep> steps_of(const Pattern& pattern, int rank);

/// Messages that one rank sends in an iteration, by its steps.
[[nodiscard]] std::uint64_t sends_of(const std::vector<mpi::MessageStep>& steps);

/// Is the same for two patterns in which every rank does the same, the steps in any order. Different patterns share one
/// by a chance of about 2^-64.
[[nodiscard]] std::uint64_t fingerprint(const Pattern& pattern);

// Halo exchanges on grids of ranks.

/// Extents as equal as factors allow, largest first, with `ranks` as their product.
[[nodiscard]] std::vector<int> balanced_extents(int ranks, int dimensions);

/// The largest number of these ranks >= 2 that makes a grid: with more than one place along its last dimension, unless
/// there are too few (below 4, or an even number below 8). Source: b_eff 3.6.
[[nodiscard]] int grid_ranks(int ranks, int dimensions);

/// Both neighbours along every dimension, on as many of the ranks as grid_ranks() says.
[[nodiscard]] Pattern halo(std::string name, int ranks, int dimensions, bool periodic);

/// Both neighbours along one dimension only, periodically.
[[nodiscard]] Pattern halo_along(std::string name, int ranks, int dimensions, int dimension);

}  // namespace ullage
