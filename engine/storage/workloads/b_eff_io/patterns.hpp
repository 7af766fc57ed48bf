// SPDX-License-Identifier: Apache-2.0
// The 43 patterns of b_eff_io, as release 2.1 has them. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/count.hpp"
#include "base/parameters.hpp"

namespace ullage {

enum class BEffIoType { scatter, shared, separated, segmented, seg_coll };
enum class BEffIoAccess { write, rewrite, read };

/// Says what patterns of different types have in common: the chunk.
enum class BEffIoSize { first, lmax, mib_by_two, mib, kib32, kib1, kib32_odd, kib1_odd, mib_odd, fill_up };

/// Sizes whose repetitions of types 0 to 2 settle those of types 3 and 4, in the order they have in a segment.
inline constexpr std::array b_eff_io_counted_sizes{BEffIoSize::lmax,   BEffIoSize::mib,       BEffIoSize::kib32,
                                                   BEffIoSize::kib1,   BEffIoSize::kib32_odd, BEffIoSize::kib1_odd,
                                                   BEffIoSize::mib_odd};

/// One line of the table. A chunk is contiguous in the file, a call moves one chunk or many of a rank.
struct BEffIoPattern {
  int number = 0;
  BEffIoType type = BEffIoType::scatter;
  BEffIoSize size = BEffIoSize::first;
  int units = 0;     // of time; 0: done once
  int position = 0;  // row of the table of results; 0: in none

  /// For a fill-up, whose length depends on what was written before it, it is 0.
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t lmax_bytes) const;
  [[nodiscard]] std::uint64_t call_bytes(std::uint64_t lmax_bytes) const;
  /// Returns how files of hints call its chunk: `Lmax`, or the bytes.
  [[nodiscard]] std::string hint_chunk() const;
  [[nodiscard]] std::string phase_name() const;  // pattern-07
};

[[nodiscard]] std::span<const BEffIoPattern> b_eff_io_patterns();
[[nodiscard]] std::span<const BEffIoPattern> b_eff_io_patterns(BEffIoType type);
/// The pattern of that type and size; nothing where the type has none.
[[nodiscard]] std::optional<BEffIoPattern> b_eff_io_pattern(BEffIoType type, BEffIoSize size);
/// Sum over the patterns of a type.
[[nodiscard]] int b_eff_io_units(BEffIoType type);

[[nodiscard]] Words<BEffIoType> b_eff_io_types();
[[nodiscard]] Words<BEffIoAccess> b_eff_io_accesses();
[[nodiscard]] std::string word_of(BEffIoType type);
[[nodiscard]] std::string word_of(BEffIoAccess access);
[[nodiscard]] std::string word_of(BEffIoSize size);

/// The segmented types, whose repetitions follow from what types 0 to 2 did.
[[nodiscard]] constexpr bool is_segmented(BEffIoType type) {
  return type == BEffIoType::segmented || type == BEffIoType::seg_coll;
}
/// Calls are those of all ranks together.
[[nodiscard]] constexpr bool is_collective(BEffIoType type) {
  return type == BEffIoType::scatter || type == BEffIoType::shared || type == BEffIoType::seg_coll;
}

// How long a pattern goes on. Pure: told the time.

/// `predicted`: the next repetition is expected to end in time, as release 2.1 has it; `elapsed`: this one ended before
/// it was over, as release 1.0 has it.
enum class BEffIoRule { predicted, elapsed };

/// After `repetitions`, of at least one, have taken `elapsed_s`: whether another one begins.
[[nodiscard]] bool b_eff_io_goes_on(BEffIoRule rule, double elapsed_s, std::uint64_t repetitions, double scheduled_s);

/// Calls of each rank that fit into the pattern's part of `most_bytes`, which goes by units; one at least.
[[nodiscard]] std::uint64_t b_eff_io_most_calls(const BEffIoPattern& pattern, std::uint64_t lmax_bytes,
                                                std::uint64_t ranks, std::uint64_t most_bytes);
/// Returns what a case of that type writes at most, rounded up to segments where it has them.
[[nodiscard]] Count b_eff_io_needed_bytes(BEffIoType type, std::uint64_t lmax_bytes, std::uint64_t ranks,
                                          std::uint64_t most_bytes);

/// When ranks whose calls are collective look together whether they go on: often enough to end soon after they should,
/// seldom enough to cost nothing.
class BEffIoCheckTimes final {
 public:
  /// `allowance_s`: what the pattern may take; infinite: as long as it needs.
  explicit BEffIoCheckTimes(double allowance_s);

  /// The repetition after which the first look is.
  [[nodiscard]] static constexpr std::uint64_t first() { return 1; }
  /// At a look: whether time is over.
  [[nodiscard]] bool is_over(double elapsed_s) const { return elapsed_s >= allowance_s_; }
  /// The repetition after which the next look is.
  [[nodiscard]] std::uint64_t next(std::uint64_t done, double elapsed_s) const;

 private:
  double allowance_s_;
  double spacing_s_;
};

}  // namespace ullage
