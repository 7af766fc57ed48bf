// SPDX-License-Identifier: Apache-2.0
// The files of a run that keeps its state at every step, and what they are called. Pure.
#pragma once

#include "base/parameters.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
#include "storage/numbered_names.hpp"

namespace ullage {

enum class StepLayout { flat, dir_per_rank, dir_per_step, hashed, log };

inline constexpr std::string_view step_prefix = "s.";
inline constexpr std::string_view log_prefix = "log.";
inline constexpr std::string_view rank_directory_prefix = "r.";
inline constexpr std::string_view step_directory_prefix = "t.";
inline constexpr std::string_view hash_directory_prefix = "h.";

/// Appends `h.3/h.11/`: the digits of `hash` to the base of the fan-out, from the lowest.
inline constexpr std::uint64_t hash_fan_out = 16;

inline void append_hashed_path(std::string& path, std::uint64_t hash, std::uint64_t levels) {
  for (std::uint64_t level = 0; level < levels; ++level, hash /= hash_fan_out) {
    append_named(path, hash_directory_prefix, hash % hash_fan_out);
    path += '/';
  }
}

inline std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// Path of directory `index`, counted level by level.
inline std::string hashed_directory(std::uint64_t index) {
  std::uint64_t level = 1;
  for (; index >= power(hash_fan_out, level); ++level) index -= power(hash_fan_out, level);
  std::string path;
  append_hashed_path(path, index, level);
  path.pop_back();
  return path;
}

/// Every rank has a file for each of its steps, or one log of all steps. Steps and ranks are numbered from 0.
struct StepShape {
  std::uint64_t ranks = 1;
  std::uint64_t steps = 1;  // of a rank, that have files
  StepLayout layout = StepLayout::dir_per_rank;
  std::uint64_t levels = 1;  // of directories, with layout hashed

  static constexpr std::uint64_t fan_out = hash_fan_out;  // directories in each, with layout hashed
  static constexpr std::uint64_t most_levels = 5;         // 2^20 directories in the last level
  static constexpr std::uint64_t most_directories = std::uint64_t{1} << 24;
  static constexpr bool directories = false;  // its items are files

  /// Appends `s.RANK.STEP` behind its directories, or `log.RANK`, from the dataset's directory, to `path`. Allocates
  /// nothing where `path` has room: names are made while the clock runs.
  void append_file_path(std::string& path, std::uint64_t rank, std::uint64_t step) const {
    if (layout == StepLayout::log) return append_named(path, log_prefix, rank);
    if (layout == StepLayout::hashed) {
      append_hashed_path(path, mix64(mix64(rank) + step), levels);
    } else if (layout != StepLayout::flat) {
      const bool of_rank = layout == StepLayout::dir_per_rank;
      append_named(path, of_rank ? rank_directory_prefix : step_directory_prefix, of_rank ? rank : step);
      path += '/';
    }
    append_named(path, step_prefix, rank);
    append_named(path, ".", step);
  }

  [[nodiscard]] std::uint64_t file_count() const noexcept { return layout == StepLayout::log ? ranks : ranks * steps; }

  /// Directories below the dataset's own. One that lies in another has a higher number.
  [[nodiscard]] std::uint64_t directory_count() const {
    const auto ends = directory_ends();
    return ends.empty() ? 0 : ends.back();
  }

  [[nodiscard]] std::string directory_path(std::uint64_t index) const {
    if (layout == StepLayout::hashed) return hashed_directory(index);
    std::string path;
    append_named(path, layout == StepLayout::dir_per_rank ? rank_directory_prefix : step_directory_prefix, index);
    return path;
  }

  /// Returns where each level of directories ends in that numbering.
  [[nodiscard]] std::vector<std::uint64_t> directory_ends() const {
    if (layout == StepLayout::dir_per_rank) return {ranks};
    if (layout == StepLayout::dir_per_step) return {steps};
    std::vector<std::uint64_t> ends;
    std::uint64_t end = 0;
    for (std::uint64_t level = 1; layout == StepLayout::hashed && level <= levels; ++level)
      ends.push_back(end += power(fan_out, level));
    return ends;
  }

  struct Item {
    std::uint64_t rank = 0;
    std::uint64_t item = 0;
  };

  /// Returns what a file's name says; nothing for every name that is none of these files.
  [[nodiscard]] std::optional<Item> parse_item(std::string_view name) const {
    if (layout == StepLayout::log) {
      const auto rank = numbered(name, log_prefix, ranks);
      return rank ? std::optional(Item{*rank, 0}) : std::nullopt;
    }
    const auto numbers = numbered_twice(name, step_prefix, {ranks, steps});
    if (!numbers) return std::nullopt;
    return Item{numbers->first, numbers->second};
  }

  [[nodiscard]] bool is_directory_name(std::string_view name) const {
    switch (layout) {
      case StepLayout::dir_per_rank:
        return numbered(name, rank_directory_prefix, ranks).has_value();
      case StepLayout::dir_per_step:
        return numbered(name, step_directory_prefix, steps).has_value();
      case StepLayout::hashed:
        return numbered(name, hash_directory_prefix, fan_out).has_value();
      default:
        return false;
    }
  }

  [[nodiscard]] bool operator==(const StepShape&) const = default;
};

[[nodiscard]] inline Words<StepLayout> words_of(StepLayout) {
  return {{StepLayout::flat, "flat"},
          {StepLayout::dir_per_rank, "dir-per-rank"},
          {StepLayout::dir_per_step, "dir-per-step"},
          {StepLayout::hashed, "hashed"},
          {StepLayout::log, "log"}};
}

}  // namespace ullage
