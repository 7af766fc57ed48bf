// SPDX-License-Identifier: Apache-2.0
// Times of many pairs in a file of their own: each end keeps its times and writes them to their place, so that no rank
// has all of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"
#include "mpi/comm.hpp"

namespace ullage {

static_assert(std::endian::native == std::endian::little, "tables of pairs are little-endian");

/// A row of the first part of the file: an end, the lowest rank of a node or any. The host's name is cut to what fits,
/// and padded with zeros.
struct PairEnd {
  std::int32_t rank = 0;
  std::int32_t node = 0;
  std::array<char, 64> host{};
};
static_assert(sizeof(PairEnd) == 72);

/// A row of the second part: numbers of two ends, and the seconds from the first to the second.
struct PairTime {
  std::int32_t client = 0;
  std::int32_t server = 0;
  double one_way_s = 0;
};
static_assert(sizeof(PairTime) == 16);

[[nodiscard]] PairEnd pair_end(int rank, int node, const std::string& host);

/// Collective over `ends`. Writes a new file at `path`, which replaces one that is there: of every `stride`-th end its
/// PairEnd, in their order, then all their times, in the same order. Read back before it is closed: a library that
/// answers that all is well may have written nothing. An error of any end is one of all.
[[nodiscard]] Status write_pair_table(const mpi::Comm& ends, const std::string& path, int stride, const PairEnd& mine,
                                      std::span<const PairTime> times);

}  // namespace ullage
