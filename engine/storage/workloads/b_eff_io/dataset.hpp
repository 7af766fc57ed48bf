// SPDX-License-Identifier: Apache-2.0
// What a first write of workload `b-eff-io` has made, as the cases after it must know it.
#pragma once

#include <map>

#include "base/count.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
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

inline constexpr std::uint64_t boundary_bytes = 1 << 20;

inline std::optional<std::uint64_t> count_in(const std::optional<BEffIoCounts>& counts, BEffIoSize size) {
  if (!counts) return std::nullopt;
  const auto found = counts->find(size);
  return found == counts->end() ? std::nullopt : std::optional(found->second);
}

inline void keep_least(std::optional<std::uint64_t>& least, std::optional<std::uint64_t> count) {
  if (count) least = std::min(least.value_or(*count), *count);
}

inline std::uint64_t count_of(BEffIoSize size, std::uint64_t lmax_bytes, const BEffIoFirstWrites& made) {
  const BEffIoPattern scattered = *b_eff_io_pattern(BEffIoType::scatter, size);
  const std::uint64_t chunks = scattered.call_bytes(lmax_bytes) / scattered.chunk_bytes(lmax_bytes);
  const auto scatter = count_in(made.scatter, size);
  const auto shared = count_in(made.shared, size);
  std::optional<std::uint64_t> least;
  keep_least(least, scatter ? std::optional(*scatter * chunks) : std::nullopt);
  keep_least(least, shared ? std::optional(*shared * 10) : std::nullopt);
  keep_least(least, count_in(made.separated, size));
  return least.value_or(0);
}

/// The least of what the three types did in so many bytes, ten times as much of type shared: whoever was not there, or
/// has not that size, is left out. No more than `most` of a size.
[[nodiscard]] inline BEffIoSegment b_eff_io_segment(std::uint64_t lmax_bytes, const BEffIoFirstWrites& made,
                                                    const BEffIoCounts& most) {
  BEffIoSegment segment;
  segment.counts[BEffIoSize::first] = 1;
  std::uint64_t taken = b_eff_io_pattern(BEffIoType::segmented, BEffIoSize::first)->chunk_bytes(lmax_bytes);
  for (const BEffIoSize size : b_eff_io_counted_sizes) {
    const auto limit = most.find(size);
    std::uint64_t count = count_of(size, lmax_bytes, made);
    if (limit != most.end()) count = std::min(count, limit->second);
    segment.counts[size] = count;
    taken += count * b_eff_io_pattern(BEffIoType::segmented, size)->chunk_bytes(lmax_bytes);
  }
  segment.bytes = round_up(taken, boundary_bytes);
  segment.fill_up_bytes = segment.bytes - taken;
  segment.counts[BEffIoSize::fill_up] = segment.fill_up_bytes > 0 ? 1 : 0;
  return segment;
}

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

  [[nodiscard]] nlohmann::json facts(const Json& layout) const {
    Json made = Json::object();
    for (const auto& [number, pattern] : patterns)
      made[std::to_string(number)] = {{"count", pattern.count},
                                      {"displacement_bytes", pattern.displacement_bytes},
                                      {"rewritten", pattern.rewritten},
                                      {"rewritten_by_some", pattern.rewritten_by_some}};
    return {{"workload", "b-eff-io"},
            {"layout", layout},
            {"key", key},
            {"segment_bytes", segment_bytes},
            {"patterns", std::move(made)}};
  }

  /// Reads facts that are those of a dataset of this workload.
  [[nodiscard]] static BEffIoDataset from(const Json& facts) {
    BEffIoDataset dataset{facts.value("key", std::uint64_t{0}), facts.value("segment_bytes", std::uint64_t{0}), {}};
    const Json patterns = facts.value("patterns", Json::object());
    for (const BEffIoPattern& pattern : b_eff_io_patterns()) {
      const auto found = patterns.find(std::to_string(pattern.number));
      if (found == patterns.end()) continue;
      const auto member = [&](const char* name) { return found->value(name, std::uint64_t{0}); };
      dataset.patterns[pattern.number] = {member("count"), member("displacement_bytes"), member("rewritten"),
                                          member("rewritten_by_some")};
    }
    return dataset;
  }
};

/// Returns what every case that works on these files must have in common.
[[nodiscard]] inline nlohmann::json b_eff_io_layout(const BEffIoParameters& parameters, int ranks) {
  return {{"ranks", ranks},
          {"type", word_of(parameters.type)},
          {"lmax_bytes", parameters.lmax_bytes},
          {"shared_pointer", parameters.type == BEffIoType::shared && parameters.shared_pointer}};
}

/// Length of a pattern's calls, also of a fill-up, which ends where the segment does.
[[nodiscard]] inline std::uint64_t b_eff_io_call_bytes(const BEffIoPattern& pattern, std::uint64_t lmax_bytes,
                                                       std::uint64_t displacement_bytes, std::uint64_t segment_bytes) {
  if (pattern.size == BEffIoSize::fill_up) return segment_bytes - displacement_bytes;
  return pattern.call_bytes(lmax_bytes);
}

inline Result<std::optional<BEffIoCounts>> b_eff_io_counts_in(const DatasetFacts& book, BEffIoParameters of,
                                                              BEffIoType type, int ranks) {
  const std::string name = of.counts_of + "-" + word_of(type);
  const Json* facts = book.find(name);
  if (facts == nullptr) return std::nullopt;
  of.type = type;
  Json wanted = b_eff_io_layout(of, ranks);
  const Json made = facts->value("layout", Json());
  wanted["shared_pointer"] = made.value("shared_pointer", false);  // lies the same either way
  if (made != wanted)
    return fail(environment_error("dataset '" + name + "'",
                                  "was made as " + json_text(made) + ", but must be made as " + json_text(wanted)));
  const BEffIoDataset dataset = BEffIoDataset::from(*facts);
  BEffIoCounts counts;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(type))
    if (const auto found = dataset.patterns.find(pattern.number); found != dataset.patterns.end())
      counts[pattern.size] = found->second.count;
  return counts;
}

/// The repetitions of `counts_of` in a book; a dataset that is not there is left out. An error when none is, or one was
/// made by other ranks or with another largest chunk.
[[nodiscard]] inline Result<BEffIoFirstWrites> b_eff_io_first_writes(const DatasetFacts& book,
                                                                     const BEffIoParameters& parameters, int ranks) {
  BEffIoFirstWrites made;
  for (const auto& [type, member] : {std::pair{BEffIoType::scatter, &BEffIoFirstWrites::scatter},
                                     std::pair{BEffIoType::shared, &BEffIoFirstWrites::shared},
                                     std::pair{BEffIoType::separated, &BEffIoFirstWrites::separated}}) {
    auto counts = b_eff_io_counts_in(book, parameters, type, ranks);
    if (!counts) return fail(counts.error());
    made.*member = std::move(*counts);
  }
  if (!made.any())
    return fail(environment_error("counts_of", "there is no dataset '" + parameters.counts_of +
                                                   "-scatter', -shared or -separated; first run the cases that make "
                                                   "them"));
  return made;
}

}  // namespace ullage
