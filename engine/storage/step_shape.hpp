// SPDX-License-Identifier: Apache-2.0
// The files of a run that keeps its state at every step, and what they are called. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ullage {

enum class StepLayout { flat, dir_per_rank, dir_per_step, hashed, log };

/// Every rank has a file for each of its steps, or one log of all steps. Steps and ranks are numbered from 0.
struct StepShape {
  std::uint64_t ranks = 1;
  std::uint64_t steps = 1;  // of a rank, that have files
  StepLayout layout = StepLayout::dir_per_rank;
  std::uint64_t levels = 1;  // of directories, with layout hashed

  static constexpr std::uint64_t fan_out = 16;     // directories in each, with layout hashed
  static constexpr std::uint64_t most_levels = 5;  // 2^20 directories in the last level
  static constexpr std::uint64_t most_directories = std::uint64_t{1} << 24;
  static constexpr bool directories = false;  // its items are files

  /// `s.RANK.STEP` behind its directories, or `log.RANK`; from the dataset's directory.
  [[nodiscard]] std::string file_path(std::uint64_t rank, std::uint64_t step) const;
  /// Appends the same to `path`. Allocates nothing where `path` has room: names are made while the clock runs.
  void append_file_path(std::string& path, std::uint64_t rank, std::uint64_t step) const;
  [[nodiscard]] std::uint64_t file_count() const noexcept { return layout == StepLayout::log ? ranks : ranks * steps; }

  /// Directories below the dataset's own. One that lies in another has a higher number.
  [[nodiscard]] std::uint64_t directory_count() const;
  [[nodiscard]] std::string directory_path(std::uint64_t index) const;
  /// Returns where each level of directories ends in that numbering.
  [[nodiscard]] std::vector<std::uint64_t> directory_ends() const;

  struct Item {
    std::uint64_t rank = 0;
    std::uint64_t item = 0;
  };
  /// Returns what a file's name says; nothing for every name that is none of these files.
  [[nodiscard]] std::optional<Item> parse_item(std::string_view name) const;
  [[nodiscard]] bool is_directory_name(std::string_view name) const;
  [[nodiscard]] bool operator==(const StepShape&) const = default;
};

/// The layout's word in manifests and parameters.
[[nodiscard]] std::string word(StepLayout layout);
[[nodiscard]] std::optional<StepLayout> parse_step_layout(std::string_view word);

}  // namespace ullage
