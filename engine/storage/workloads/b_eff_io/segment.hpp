// SPDX-License-Identifier: Apache-2.0
// How long a segment is, and how often each pattern of types segmented and seg_coll is repeated in it. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "storage/workloads/b_eff_io/patterns.hpp"

namespace ullage {

/// Repetitions by size, of the patterns of one type; a size that is not there was not done.
using BEffIoCounts = std::map<BEffIoSize, std::uint64_t>;

/// Holds what first writes have done; a type that is not there was not done at all.
struct BEffIoFirstWrites {
  std::optional<BEffIoCounts> scatter;
  std::optional<BEffIoCounts> shared;
  std::optional<BEffIoCounts> separated;
  [[nodiscard]] bool any() const { return scatter || shared || separated; }
};

struct BEffIoSegment {
  BEffIoCounts counts;              // of every pattern in a segment, also the first one's and the fill-up's
  std::uint64_t fill_up_bytes = 0;  // length of the fill-up's only call; 0: there is none
  std::uint64_t bytes = 0;          // a multiple of 1 MiB
};

/// The least of what the three types did in so many bytes, ten times as much of type shared: whoever was not there, or
/// has not that size, is left out. No more than `most` of a size.
[[nodiscard]] BEffIoSegment b_eff_io_segment(std::uint64_t lmax_bytes, const BEffIoFirstWrites& made,
                                             const BEffIoCounts& most);

}  // namespace ullage
