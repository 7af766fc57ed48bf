// SPDX-License-Identifier: Apache-2.0
// The tree of directories and small items that metadata work is done on, with mdtest's words and names. Pure.
#pragma once

#include "base/std.hpp"

namespace ullage {

/// A tree of `depth` levels below its root, each directory with `branching` sub-directories, numbered breadth first
/// from the root, 0. One for all ranks, or one each. Every rank has its own items, numbered from 0, which fill one
/// directory after the other.
struct TreeShape {
  std::uint64_t ranks = 1;
  std::uint64_t items = 0;                // of a rank, at most
  std::uint64_t items_per_directory = 0;  // of a rank; 0: spread evenly
  std::uint64_t depth = 0;
  std::uint64_t branching = 1;
  bool leaf_only = false;         // items in the deepest directories only
  bool unique_directory = false;  // a tree for each rank
  bool directories = false;       // items are directories, not files

  static constexpr std::uint64_t most_directories = std::uint64_t{1} << 24;  // of one tree

  [[nodiscard]] std::uint64_t directory_count()
      const noexcept;  // of one tree; most_directories + 1 where there are more
  /// The first directory that holds items, by its number, and how many there are.
  [[nodiscard]] std::uint64_t first_holding() const noexcept;
  [[nodiscard]] std::uint64_t holding_count() const noexcept { return directory_count() - first_holding(); }
  [[nodiscard]] std::uint64_t items_in_directory() const noexcept;  // of a rank
  [[nodiscard]] std::uint64_t directory_of_item(std::uint64_t item) const noexcept;
  [[nodiscard]] std::uint64_t trees() const noexcept { return unique_directory ? ranks : 1; }

  /// Path of directory `index` of the tree that `rank` works in, from the dataset's directory:
  /// `mdtest_tree.T.0/mdtest_tree.T.1`.
  [[nodiscard]] std::string directory_path(std::uint64_t rank, std::uint64_t index) const;
  /// `file.mdtest.RANK.ITEM` or `dir.mdtest.RANK.ITEM`, and that with `.renamed` behind it.
  [[nodiscard]] std::string item_name(std::uint64_t rank, std::uint64_t item, bool renamed = false) const;

  struct Item {
    std::uint64_t rank = 0;
    std::uint64_t item = 0;
  };
  /// Returns what an item's name says; nothing for every name that is none of this tree's items.
  [[nodiscard]] std::optional<Item> parse_item(std::string_view name) const;
  [[nodiscard]] bool is_directory_name(std::string_view name) const;
  [[nodiscard]] bool operator==(const TreeShape&) const = default;
};

/// Holds what TreeShape::item_name() says of the items of one rank, for many names one after the other: none asks for
/// memory.
class ItemNames final {
 public:
  ItemNames(const TreeShape& shape, std::uint64_t rank, bool renamed);
  /// Good until the next call.
  [[nodiscard]] std::string_view of(std::uint64_t item);

 private:
  std::string name_;
  std::size_t prefix_length_;
  std::string_view suffix_;
};

}  // namespace ullage
