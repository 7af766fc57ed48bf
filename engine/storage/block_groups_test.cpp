// SPDX-License-Identifier: Apache-2.0
#include "storage/block_groups.hpp"

#include <gtest/gtest.h>

#include <set>

#include "storage/test_support.hpp"

namespace ullage::block_groups_test {

namespace fs = std::filesystem;

Descriptor opened(const std::string& path) { return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY)); }

bool is_flagged(const std::string& path) {
  int flags = 0;
  return ioctl(opened(path).get(), FS_IOC_GETFLAGS, &flags) == 0 && (flags & FS_TOPDIR_FL) != 0;
}

ino_t inode_of(const std::string& path) {
  struct stat status{};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_ino;
}

class BlockGroupsTest : public test::OnTarget {
 protected:
  /// Skips where the file system forgets what was removed, or has no such flag.
  void SetUp() override {
    const std::string probed = target_.path() + "/probed";
    fs::create_directory(probed);
    if (!BlockGroups::spread(opened(probed).get()))
      GTEST_SKIP() << "no ext4 without a journal at " << target_.path() << ", or the flag may not be set";
    fs::remove(probed);
  }
};

TEST_F(BlockGroupsTest, OnlyTheRunsOwnFolderIsFlagged) {
  const RunFolder folder = made();
  ASSERT_TRUE(folder.make_directory("one"));
  EXPECT_TRUE(is_flagged(own()));
  EXPECT_FALSE(is_flagged(own() + "/one"));
  EXPECT_FALSE(is_flagged(target_.path()));
}

constexpr ino_t together = groups_together * inodes_a_group;

/// Counts the places, apart from each other, that the file system gives new directories in `folder`, which it spreads.
/// One that is nearly full has few of them, as has a small one.
std::size_t places_given(const std::string& folder) {
  std::set<ino_t> places;
  for (int i = 0; i < 400; ++i) {
    const std::string tried = folder + "/tried-" + std::to_string(i);
    fs::create_directory(tried);
    places.insert(inode_of(tried) / together);
    fs::remove(tried);
  }
  return places.size();
}

TEST_F(BlockGroupsTest, DatasetsThatFollowEachOtherLieApart) {
  const RunFolder folder = made();
  // Five used places leave at most 15 of these to avoid: with 45, all of 13 tries are among them once in a million.
  if (const std::size_t places = places_given(own()); places < 45) GTEST_SKIP() << "places: " << places;
  std::vector<ino_t> used;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(folder.make_directory("same-name"));
    EXPECT_EQ(test::names_in(own()), (std::vector<std::string>{".ullage-run", "manifest.ndjson", "same-name"}));
    used.push_back(inode_of(own() + "/same-name"));
    ASSERT_TRUE(folder.remove_directory("same-name"));
  }
  for (std::size_t i = 0; i < used.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(block_group_of(used[i]), block_group_of(used[j]));
}

TEST_F(BlockGroupsTest, TellsWhatANewFileCostsAndLeavesNone) {
  const RunFolder folder = made();
  ASSERT_TRUE(folder.make_directory("one"));
  const auto cost = folder.new_file_cost("one");
  ASSERT_TRUE(cost);
  EXPECT_GT(cost->least_ns, 0);
  EXPECT_GE(cost->here_ns, cost->least_ns);
  EXPECT_TRUE(fs::is_empty(own() + "/one"));
  EXPECT_FALSE(folder.new_file_cost("missing"));
}

TEST_F(BlockGroupsTest, DirectoriesInsideADatasetStayInItsGroup) {
  const RunFolder folder = made();
  ASSERT_TRUE(folder.make_directory("one"));
  const ino_t before = inode_of(own() + "/one");
  ASSERT_TRUE(folder.make_directory("one"));
  ASSERT_TRUE(folder.make_directory("one/inner"));
  EXPECT_EQ(inode_of(own() + "/one"), before) << "one that is there is not replaced";
  EXPECT_EQ(test::names_in(own() + "/one"), std::vector<std::string>{"inner"});
}

class SparesTest : public test::OnTarget {};

TEST_F(SparesTest, WhatAKilledLaunchLeftToChooseFromGoesWithTheFolder) {
  RunFolder folder = made();
  fs::create_directory(own() + "/.ullage-spare-1");
  ASSERT_TRUE(folder.remove_listed());
  EXPECT_FALSE(fs::exists(own()));
}

TEST_F(SparesTest, ASpareThatHoldsSomethingStaysAndIsSaid) {
  RunFolder folder = made();
  fs::create_directory(own() + "/.ullage-spare-1");
  test::write_file(own() + "/.ullage-spare-1/foreign", "mine");
  const auto left = folder.remove_listed();
  ASSERT_TRUE(left);
  ASSERT_EQ(left->left.size(), 1U);
  EXPECT_TRUE(fs::exists(own() + "/.ullage-run"));
}

TEST(BlockGroups, OtherFileSystemsAreLeftAsTheyAre) {
  const test::SmallFileSystem memory("size=1m");
  if (!memory.mounted()) GTEST_SKIP() << "mounting is not permitted";
  EXPECT_FALSE(BlockGroups::spread(opened(memory.path()).get()));
  EXPECT_FALSE(is_flagged(memory.path()));
  EXPECT_FALSE(make_unnamed_files(-1));
}

}  // namespace ullage::block_groups_test
