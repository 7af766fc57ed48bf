// SPDX-License-Identifier: Apache-2.0
// The 43 patterns of b_eff_io, as release 2.1 has them. Pure.
#pragma once

#include "base/count.hpp"
#include "base/parameters.hpp"
#include "base/std.hpp"

namespace ullage {

enum class BEffIoType { scatter, shared, separated, segmented, seg_coll };
enum class BEffIoAccess { write, rewrite, read };

/// Says what patterns of different types have in common: the chunk.
enum class BEffIoSize { first, lmax, mib_by_two, mib, kib32, kib1, kib32_odd, kib1_odd, mib_odd, fill_up };

/// Stands in the order of their numbers, which every type has consecutive ones of.
struct SizeOfType {
  BEffIoSize size = BEffIoSize::first;
  int units = 0;
  int position = 0;
};

inline constexpr SizeOfType fill_up{BEffIoSize::fill_up, 0, 0};

/// Sizes whose repetitions of types 0 to 2 settle those of types 3 and 4, in the order they have in a segment.
inline constexpr std::array b_eff_io_counted_sizes{BEffIoSize::lmax,   BEffIoSize::mib,       BEffIoSize::kib32,
                                                   BEffIoSize::kib1,   BEffIoSize::kib32_odd, BEffIoSize::kib1_odd,
                                                   BEffIoSize::mib_odd};

inline constexpr std::uint64_t a_kib = 1024;
inline constexpr std::uint64_t a_mib = a_kib * a_kib;

/// One line of the table. A chunk is contiguous in the file, a call moves one chunk or many of a rank.
struct BEffIoPattern {
  int number = 0;
  BEffIoType type = BEffIoType::scatter;
  BEffIoSize size = BEffIoSize::first;
  int units = 0;     // of time; 0: done once
  int position = 0;  // row of the table of results; 0: in none

  /// For a fill-up, whose length depends on what was written before it, it is 0.
  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t lmax_bytes) const {
    switch (size) {
      case BEffIoSize::lmax:
        return lmax_bytes;
      case BEffIoSize::kib32:
        return 32 * a_kib;
      case BEffIoSize::kib1:
        return a_kib;
      case BEffIoSize::kib32_odd:
        return 32 * a_kib + 8;
      case BEffIoSize::kib1_odd:
        return a_kib + 8;
      case BEffIoSize::mib_odd:
        return a_mib + 8;
      case BEffIoSize::fill_up:
        return 0;
      case BEffIoSize::first:
      case BEffIoSize::mib_by_two:
      case BEffIoSize::mib:
        break;
    }
    return a_mib;
  }

  /// Calls of type scatter move about 1 MiB, however small the chunks; of the other types one chunk.
  [[nodiscard]] std::uint64_t call_bytes(std::uint64_t lmax_bytes) const {
    const std::uint64_t chunk = chunk_bytes(lmax_bytes);
    if (type != BEffIoType::scatter) return chunk;
    switch (size) {
      case BEffIoSize::mib_by_two:
        return 2 * chunk;
      case BEffIoSize::kib32:
      case BEffIoSize::kib32_odd:
        return 32 * chunk;
      case BEffIoSize::kib1:
      case BEffIoSize::kib1_odd:
        return a_kib * chunk;
      default:
        return chunk;
    }
  }

  /// Returns how files of hints call its chunk: `Lmax`, or the bytes.
  [[nodiscard]] std::string hint_chunk() const {
    if (size == BEffIoSize::lmax) return "Lmax";
    return std::to_string(size == BEffIoSize::fill_up ? a_mib : chunk_bytes(0));
  }

  [[nodiscard]] std::string phase_name() const {  // pattern-07
    return (number < 10 ? "pattern-0" : "pattern-") + std::to_string(number);
  }
};

inline constexpr std::array scatter_sizes{
    SizeOfType{BEffIoSize::first, 0, 0},      SizeOfType{BEffIoSize::lmax, 4, 7},
    SizeOfType{BEffIoSize::mib_by_two, 4, 8}, SizeOfType{BEffIoSize::mib, 4, 5},
    SizeOfType{BEffIoSize::kib32, 2, 3},      SizeOfType{BEffIoSize::kib1, 2, 1},
    SizeOfType{BEffIoSize::kib32_odd, 2, 4},  SizeOfType{BEffIoSize::kib1_odd, 2, 2},
    SizeOfType{BEffIoSize::mib_odd, 2, 6}};

inline constexpr std::array shared_sizes{
    SizeOfType{BEffIoSize::first, 0, 0},    SizeOfType{BEffIoSize::lmax, 4, 7},
    SizeOfType{BEffIoSize::mib, 2, 5},      SizeOfType{BEffIoSize::kib32, 1, 3},
    SizeOfType{BEffIoSize::kib1, 1, 1},     SizeOfType{BEffIoSize::kib32_odd, 1, 4},
    SizeOfType{BEffIoSize::kib1_odd, 1, 2}, SizeOfType{BEffIoSize::mib_odd, 2, 6}};

inline constexpr std::array separated_sizes{
    SizeOfType{BEffIoSize::first, 0, 0},    SizeOfType{BEffIoSize::lmax, 2, 7},
    SizeOfType{BEffIoSize::mib, 2, 5},      SizeOfType{BEffIoSize::kib32, 1, 3},
    SizeOfType{BEffIoSize::kib1, 1, 1},     SizeOfType{BEffIoSize::kib32_odd, 1, 4},
    SizeOfType{BEffIoSize::kib1_odd, 1, 2}, SizeOfType{BEffIoSize::mib_odd, 2, 6}};

inline std::vector<BEffIoPattern> make_table() {
  std::vector<BEffIoPattern> table;
  const auto append = [&](BEffIoType type, std::span<const SizeOfType> sizes) {
    for (const auto& [size, units, position] : sizes)
      table.push_back({static_cast<int>(table.size()), type, size, units, position});
  };
  append(BEffIoType::scatter, scatter_sizes);
  append(BEffIoType::shared, shared_sizes);
  append(BEffIoType::separated, separated_sizes);
  for (const BEffIoType type : {BEffIoType::segmented, BEffIoType::seg_coll}) {
    append(type, separated_sizes);
    append(type, std::span(&fill_up, 1));
  }
  return table;
}

[[nodiscard]] inline std::span<const BEffIoPattern> b_eff_io_patterns() {
  static const std::vector<BEffIoPattern> table = make_table();
  return table;
}

[[nodiscard]] inline std::span<const BEffIoPattern> b_eff_io_patterns(BEffIoType type) {
  const auto all = b_eff_io_patterns();
  const auto found = std::ranges::equal_range(all, type, {}, &BEffIoPattern::type);
  return {found.begin(), found.end()};
}

/// The pattern of that type and size; nothing where the type has none.
[[nodiscard]] inline std::optional<BEffIoPattern> b_eff_io_pattern(BEffIoType type, BEffIoSize size) {
  for (const BEffIoPattern& pattern : b_eff_io_patterns(type))
    if (pattern.size == size) return pattern;
  return std::nullopt;
}

/// Sum over the patterns of a type.
[[nodiscard]] inline int b_eff_io_units(BEffIoType type) {
  int units = 0;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(type)) units += pattern.units;
  return units;
}

[[nodiscard]] inline Words<BEffIoType> words_of(BEffIoType) {
  return {{BEffIoType::scatter, "scatter"},
          {BEffIoType::shared, "shared"},
          {BEffIoType::separated, "separated"},
          {BEffIoType::segmented, "segmented"},
          {BEffIoType::seg_coll, "seg_coll"}};
}

[[nodiscard]] inline Words<BEffIoAccess> words_of(BEffIoAccess) {
  return {{BEffIoAccess::write, "write"}, {BEffIoAccess::rewrite, "rewrite"}, {BEffIoAccess::read, "read"}};
}

[[nodiscard]] inline Words<BEffIoSize> words_of(BEffIoSize) {
  return {
      {BEffIoSize::first, "first"},     {BEffIoSize::lmax, "Lmax"},     {BEffIoSize::mib_by_two, "2M calls"},
      {BEffIoSize::mib, "1M"},          {BEffIoSize::kib32, "32k"},     {BEffIoSize::kib1, "1k"},
      {BEffIoSize::kib32_odd, "32k+8"}, {BEffIoSize::kib1_odd, "1k+8"}, {BEffIoSize::mib_odd, "1M+8"},
      {BEffIoSize::fill_up, "fill-up"},
  };
}

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
[[nodiscard]] inline bool b_eff_io_goes_on(BEffIoRule rule, double elapsed_s, std::uint64_t repetitions,
                                           double scheduled_s) {
  if (rule == BEffIoRule::elapsed) return elapsed_s < scheduled_s;
  const auto done = static_cast<double>(repetitions);
  return elapsed_s * (done + 1) / done <= scheduled_s;
}

inline std::uint64_t part_of(const BEffIoPattern& pattern, std::uint64_t most_bytes) {
  const auto units = static_cast<std::uint64_t>(pattern.units);
  const auto all = static_cast<std::uint64_t>(b_eff_io_units(pattern.type));
  return most_bytes / all * units + most_bytes % all * units / all;
}

/// Calls of each rank that fit into the pattern's part of `most_bytes`, which goes by units; one at least.
[[nodiscard]] inline std::uint64_t b_eff_io_most_calls(const BEffIoPattern& pattern, std::uint64_t lmax_bytes,
                                                       std::uint64_t ranks, std::uint64_t most_bytes) {
  if (pattern.units == 0) return 1;
  return std::max<std::uint64_t>(1, part_of(pattern, most_bytes) / (pattern.call_bytes(lmax_bytes) * ranks));
}

/// Returns what a case of that type writes at most, rounded up to segments where it has them.
[[nodiscard]] inline Count b_eff_io_needed_bytes(BEffIoType type, std::uint64_t lmax_bytes, std::uint64_t ranks,
                                                 std::uint64_t most_bytes) {
  constexpr std::uint64_t rounding_bytes = 1 << 20;
  Count needed = is_segmented(type) ? Count(ranks) * rounding_bytes : 0;
  for (const BEffIoPattern& pattern : b_eff_io_patterns(type))
    needed += std::max(Count(part_of(pattern, most_bytes)), Count(pattern.call_bytes(lmax_bytes)) * ranks);
  return needed;
}

inline constexpr double longest_spacing_s = 0.5;  // within which a request to stop is heard
inline constexpr double looks_an_allowance = 20;

/// When ranks whose calls are collective look together whether they go on: often enough to end soon after they should,
/// seldom enough to cost nothing.
class BEffIoCheckTimes final {
 public:
  /// `allowance_s`: what the pattern may take; infinite: as long as it needs.
  explicit BEffIoCheckTimes(double allowance_s)
      : allowance_s_(allowance_s), spacing_s_(std::min(longest_spacing_s, allowance_s / looks_an_allowance)) {}

  /// The repetition after which the first look is.
  [[nodiscard]] static constexpr std::uint64_t first() { return 1; }
  /// At a look: whether time is over.
  [[nodiscard]] bool is_over(double elapsed_s) const { return elapsed_s >= allowance_s_; }

  /// The repetition after which the next look is.
  /// At most twice as many as before, since the first calls may be much faster than those that follow.
  [[nodiscard]] std::uint64_t next(std::uint64_t done, double elapsed_s) const {
    const double expected =
        elapsed_s > 0 ? static_cast<double>(done) * spacing_s_ / elapsed_s : static_cast<double>(done);
    const auto step = static_cast<std::uint64_t>(std::clamp(expected, 1.0, static_cast<double>(done)));
    return done + step;
  }

 private:
  double allowance_s_;
  double spacing_s_;
};

}  // namespace ullage
