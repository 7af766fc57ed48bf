// SPDX-License-Identifier: Apache-2.0
#include "storage/tree_shape.hpp"

#include <charconv>

namespace ullage {
namespace {

constexpr std::string_view tree_prefix = "mdtest_tree.";
constexpr std::string_view file_prefix = "file.mdtest.";
constexpr std::string_view directory_prefix = "dir.mdtest.";
constexpr std::string_view renamed_suffix = ".renamed";
constexpr std::size_t most_digits = 20;  // of 64 bits

/// Takes a canonical decimal (no sign, no leading zero) off the front.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || (text.front() == '0' && end != text.data() + 1)) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Two numbers with a dot between them, and what is behind them in `text`.
std::optional<TreeShape::Item> take_pair(std::string_view& text) {
  const auto first = take_number(text);
  if (!first || !text.starts_with('.')) return std::nullopt;
  text.remove_prefix(1);
  const auto second = take_number(text);
  if (!second) return std::nullopt;
  return TreeShape::Item{*first, *second};
}

}  // namespace

std::uint64_t TreeShape::directory_count() const noexcept {
  std::uint64_t level = 1;
  std::uint64_t total = 1;
  for (std::uint64_t i = 0; i < depth && total <= most_directories; ++i) {
    level *= std::min(branching, most_directories + 1);
    total += level;
  }
  return std::min(total, most_directories + 1);
}

std::uint64_t TreeShape::first_holding() const noexcept {
  if (!leaf_only || depth == 0) return 0;
  TreeShape inner = *this;
  --inner.depth;
  return inner.directory_count();
}

std::uint64_t TreeShape::items_in_directory() const noexcept {
  if (items_per_directory > 0) return items_per_directory;
  return std::max<std::uint64_t>(1, (items + holding_count() - 1) / holding_count());
}

std::uint64_t TreeShape::directory_of_item(std::uint64_t item) const noexcept {
  return first_holding() + std::min(item / items_in_directory(), holding_count() - 1);
}

std::string TreeShape::directory_path(std::uint64_t rank, std::uint64_t index) const {
  const std::uint64_t tree = unique_directory ? rank : 0;
  const std::string own = std::string(tree_prefix) + std::to_string(tree) + "." + std::to_string(index);
  return index == 0 ? own : directory_path(rank, (index - 1) / branching) + "/" + own;
}

std::string TreeShape::item_name(std::uint64_t rank, std::uint64_t item, bool renamed) const {
  return std::string(ItemNames(*this, rank, renamed).of(item));
}

std::optional<TreeShape::Item> TreeShape::parse_item(std::string_view name) const {
  const std::string_view prefix = directories ? directory_prefix : file_prefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  const auto item = take_pair(name);
  if (!item || (!name.empty() && name != renamed_suffix)) return std::nullopt;
  if (item->rank >= ranks || item->item >= items) return std::nullopt;
  return item;
}

ItemNames::ItemNames(const TreeShape& shape, std::uint64_t rank, bool renamed)
    : name_(shape.directories ? directory_prefix : file_prefix), suffix_(renamed ? renamed_suffix : "") {
  name_ += std::to_string(rank) + ".";
  prefix_length_ = name_.size();
  name_.resize(prefix_length_ + most_digits + suffix_.size());
}

std::string_view ItemNames::of(std::uint64_t item) {
  char* const from = name_.data() + prefix_length_;
  char* const end = std::to_chars(from, from + most_digits, item).ptr;
  std::ranges::copy(suffix_, end);
  return {name_.data(), static_cast<std::size_t>(end - name_.data()) + suffix_.size()};
}

bool TreeShape::is_directory_name(std::string_view name) const {
  if (!name.starts_with(tree_prefix)) return false;
  name.remove_prefix(tree_prefix.size());
  const auto pair = take_pair(name);
  return pair && name.empty() && pair->rank < trees() && pair->item < directory_count();
}

}  // namespace ullage
