// SPDX-License-Identifier: Apache-2.0
// What a first write of workload `b-eff-io` has made, as the cases after it must know it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "storage/storage_context.hpp"
#include "storage/workloads/b_eff_io/b_eff_io.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"

namespace ullage {

// How long a segment is, and how often each pattern of types segmented and seg_coll is repeated in it. Pure.

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

/// One pattern of a dataset, the same on every rank.
struct BEffIoMade {
  std::uint64_t count = 0;               // repetitions of every rank
  std::uint64_t displacement_bytes = 0;  // see BEffIoPlace
  std::uint64_t rewritten = 0;           // the first ones, by every rank
  std::uint64_t rewritten_by_some = 0;   // by the rank that came furthest
  bool operator==(const BEffIoMade&) const = default;
};

struct BEffIoDataset {
  std::uint64_t key = 0;
  std::uint64_t segment_bytes = 0;  // of the segmented types
  std::map<int, BEffIoMade> patterns;

  [[nodiscard]] nlohmann::json facts(const nlohmann::json& layout) const;
  /// Reads facts that are those of a dataset of this workload.
  [[nodiscard]] static BEffIoDataset from(const nlohmann::json& facts);
};

/// Returns what every case that works on these files must have in common.
[[nodiscard]] nlohmann::json b_eff_io_layout(const BEffIoParameters& parameters, int ranks);

/// Length of a pattern's calls, also of a fill-up, which ends where the segment does.
[[nodiscard]] std::uint64_t b_eff_io_call_bytes(const BEffIoPattern& pattern, std::uint64_t lmax_bytes,
                                                std::uint64_t displacement_bytes, std::uint64_t segment_bytes);

/// The repetitions of `counts_of` in a book; a dataset that is not there is left out. An error when none is, or one was
/// made by other ranks or with another largest chunk.
[[nodiscard]] Result<BEffIoFirstWrites> b_eff_io_first_writes(const DatasetFacts& book,
                                                              const BEffIoParameters& parameters, int ranks);

}  // namespace ullage
