// SPDX-License-Identifier: Apache-2.0
#include "storage/step_shape.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/permutation.hpp"
#include "storage/numbered_names.hpp"

namespace ullage {
namespace {

constexpr std::string_view step_prefix = "s.";
constexpr std::string_view log_prefix = "log.";
constexpr std::string_view rank_directory_prefix = "r.";
constexpr std::string_view step_directory_prefix = "t.";
constexpr std::string_view hash_directory_prefix = "h.";

constexpr std::array<std::pair<StepLayout, std::string_view>, 5> layout_words{{
    {StepLayout::flat, "flat"},
    {StepLayout::dir_per_rank, "dir-per-rank"},
    {StepLayout::dir_per_step, "dir-per-step"},
    {StepLayout::hashed, "hashed"},
    {StepLayout::log, "log"},
}};

/// Appends `h.3/h.11/`: the digits of `hash` to the base of the fan-out, from the lowest.
void append_hashed_path(std::string& path, std::uint64_t hash, std::uint64_t levels) {
  for (std::uint64_t level = 0; level < levels; ++level, hash /= StepShape::fan_out) {
    append_named(path, hash_directory_prefix, hash % StepShape::fan_out);
    path += '/';
  }
}

std::uint64_t power(std::uint64_t base, std::uint64_t exponent) {
  std::uint64_t result = 1;
  for (std::uint64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// Path of directory `index`, counted level by level.
std::string hashed_directory(std::uint64_t index) {
  std::uint64_t level = 1;
  for (; index >= power(StepShape::fan_out, level); ++level) index -= power(StepShape::fan_out, level);
  std::string path;
  append_hashed_path(path, index, level);
  path.pop_back();
  return path;
}

}  // namespace

std::string StepShape::file_path(std::uint64_t rank, std::uint64_t step) const {
  std::string path;
  append_file_path(path, rank, step);
  return path;
}

void StepShape::append_file_path(std::string& path, std::uint64_t rank, std::uint64_t step) const {
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

std::vector<std::uint64_t> StepShape::directory_ends() const {
  if (layout == StepLayout::dir_per_rank) return {ranks};
  if (layout == StepLayout::dir_per_step) return {steps};
  std::vector<std::uint64_t> ends;
  std::uint64_t end = 0;
  for (std::uint64_t level = 1; layout == StepLayout::hashed && level <= levels; ++level)
    ends.push_back(end += power(fan_out, level));
  return ends;
}

std::uint64_t StepShape::directory_count() const {
  const auto ends = directory_ends();
  return ends.empty() ? 0 : ends.back();
}

std::string StepShape::directory_path(std::uint64_t index) const {
  if (layout == StepLayout::hashed) return hashed_directory(index);
  std::string path;
  append_named(path, layout == StepLayout::dir_per_rank ? rank_directory_prefix : step_directory_prefix, index);
  return path;
}

std::optional<StepShape::Item> StepShape::parse_item(std::string_view name) const {
  if (layout == StepLayout::log) {
    const auto rank = numbered(name, log_prefix, ranks);
    return rank ? std::optional(Item{*rank, 0}) : std::nullopt;
  }
  const auto numbers = numbered_twice(name, step_prefix, {ranks, steps});
  if (!numbers) return std::nullopt;
  return Item{numbers->first, numbers->second};
}

bool StepShape::is_directory_name(std::string_view name) const {
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

std::string word(StepLayout layout) {
  return std::string(std::ranges::find(layout_words, layout, &decltype(layout_words)::value_type::first)->second);
}

std::optional<StepLayout> parse_step_layout(std::string_view word) {
  const auto found = std::ranges::find(layout_words, word, &decltype(layout_words)::value_type::second);
  return found == layout_words.end() ? std::nullopt : std::optional(found->first);
}

}  // namespace ullage
