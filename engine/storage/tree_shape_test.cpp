// SPDX-License-Identifier: Apache-2.0
#include "storage/tree_shape.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace ullage::tree_shape_test {

TreeShape shape(std::uint64_t depth, std::uint64_t branching, std::uint64_t items, bool leaf_only = false) {
  TreeShape made;
  made.ranks = 3;
  made.depth = depth;
  made.branching = branching;
  made.items = items;
  made.leaf_only = leaf_only;
  return made;
}

TEST(TreeShape, CountsDirectories) {
  EXPECT_EQ(shape(0, 1, 1).directory_count(), 1U);
  EXPECT_EQ(shape(2, 1, 1).directory_count(), 3U);
  EXPECT_EQ(shape(2, 3, 1).directory_count(), 13U);
  EXPECT_EQ(shape(2, 3, 1, true).first_holding(), 4U);
  EXPECT_EQ(shape(2, 3, 1, true).holding_count(), 9U);
  EXPECT_EQ(shape(60, 60, 1).directory_count(), TreeShape::most_directories + 1) << "no overflow";
}

TEST(TreeShape, EveryItemHasADirectoryAndNoneIsOverfull) {
  for (const bool leaf_only : {false, true})
    for (const std::uint64_t items : {1U, 9U, 10U, 100U}) {
      const TreeShape tree = shape(2, 3, items, leaf_only);
      std::map<std::uint64_t, std::uint64_t> held;
      for (std::uint64_t i = 0; i < items; ++i) ++held[tree.directory_of_item(i)];
      for (const auto& [directory, count] : held) {
        EXPECT_GE(directory, tree.first_holding());
        EXPECT_LT(directory, tree.directory_count());
        EXPECT_LE(count, tree.items_in_directory());
      }
    }
}

TEST(TreeShape, PathsAreThoseOfParents) {
  TreeShape tree = shape(2, 2, 10);
  EXPECT_EQ(tree.directory_path(1, 0), "mdtest_tree.0.0");
  EXPECT_EQ(tree.directory_path(1, 5), "mdtest_tree.0.0/mdtest_tree.0.2/mdtest_tree.0.5");
  tree.unique_directory = true;
  EXPECT_EQ(tree.directory_path(1, 3), "mdtest_tree.1.0/mdtest_tree.1.1/mdtest_tree.1.3");
  std::set<std::string> seen;
  for (std::uint64_t i = 0; i < tree.directory_count(); ++i) seen.insert(tree.directory_path(2, i));
  EXPECT_EQ(seen.size(), 7U);
}

TEST(TreeShape, NamesOneAfterTheOtherAreThoseOfEach) {
  TreeShape tree = shape(0, 1, 10);
  for (const bool directories : {false, true})
    for (const bool renamed : {false, true}) {
      tree.directories = directories;
      ItemNames names(tree, 2, renamed);
      for (const std::uint64_t item : {std::uint64_t{9}, std::uint64_t{123'456}, std::uint64_t{0}, ~std::uint64_t{0}})
        EXPECT_EQ(names.of(item), std::string(directories ? "dir" : "file") + ".mdtest.2." + std::to_string(item) +
                                      (renamed ? ".renamed" : ""));
    }
}

TEST(TreeShape, NamesComeBackAndOthersDoNot) {
  const TreeShape tree = shape(1, 2, 100);
  for (const bool renamed : {false, true}) {
    const auto item = tree.parse_item(tree.item_name(2, 99, renamed));
    ASSERT_TRUE(item);
    EXPECT_EQ(item->rank, 2U);
    EXPECT_EQ(item->item, 99U);
  }
  for (const char* foreign :
       {"", "file.mdtest.", "file.mdtest.0", "file.mdtest.0.", "file.mdtest.3.0", "file.mdtest.0.100",
        "file.mdtest.00.1", "file.mdtest.0.01", "file.mdtest.0.1x", "file.mdtest.-0.1", "dir.mdtest.0.1",
        "file.mdtest.0.1.renamed2", "file.mdtest.0.99999999999999999999999"})
    EXPECT_FALSE(tree.parse_item(foreign)) << foreign;
  EXPECT_TRUE(tree.is_directory_name("mdtest_tree.0.2"));
  for (const char* foreign : {"mdtest_tree.0.3", "mdtest_tree.1.0", "mdtest_tree.0", "mdtest_tree.0.0/", "tree.0.0"})
    EXPECT_FALSE(tree.is_directory_name(foreign)) << foreign;
}

}  // namespace ullage::tree_shape_test
