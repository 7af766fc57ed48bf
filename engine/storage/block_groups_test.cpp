// SPDX-License-Identifier: Apache-2.0
#include "storage/block_groups.hpp"

#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include <filesystem>
#include <set>
#include <vector>

#include "storage/run_folder.hpp"
#include "storage/test_support.hpp"

namespace ullage::block_groups_test {
namespace {

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

constexpr ino_t together = 16 * 8192;

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
    for (std::size_t j = 0; j < i; ++j) EXPECT_GE(std::max(used[i], used[j]) - std::min(used[i], used[j]), together);
}

std::set<std::uint64_t> all_to_fill(ino_t directory, std::uint64_t files, std::uint64_t of) {
  const auto filled = groups_to_fill(directory, {.files = files, .directories = 2}, of);
  return {filled.begin(), filled.end()};
}

TEST_F(BlockGroupsTest, ALargeDatasetLiesApartFromTheOneBeforeAndLeavesNoSpares) {
  RunFolder folder = made();
  std::vector<std::set<std::uint64_t>> filled;
  for (const char* name : {"first", "second"}) {
    ASSERT_TRUE(folder.list_dataset({.dataset = name, .directory = name, .files = 100'000}));
    ASSERT_TRUE(folder.make_directory(name));
    EXPECT_TRUE(fs::is_empty(own() + "/" + name));
    filled.push_back(all_to_fill(inode_of(own() + "/" + name), 100'000, 1'000'000));
  }
  const std::size_t places = test::names_in(own()).size();
  if (places > 500) {  // a small file system has no others
    for (const std::uint64_t group : filled[0]) EXPECT_FALSE(filled[1].contains(group)) << group << " of " << places;
  }
  ASSERT_TRUE(folder.remove_listed());
  EXPECT_FALSE(fs::exists(own()));
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

constexpr std::uint64_t groups = 2048;
ino_t inode_in(std::uint64_t group) { return group * 8192 + 5; }

TEST(GroupsToFill, AreTheOwnSomeAtDistancesThatDoubleAndTheFollowing) {
  EXPECT_EQ(all_to_fill(inode_in(100), 8191, groups), std::set<std::uint64_t>{100});
  const auto many = all_to_fill(inode_in(100), 700'000, groups);
  for (std::uint64_t group = 100; group <= 185; ++group) EXPECT_TRUE(many.contains(group)) << group;
  // The kernel adds the inode of the directory inside, 5 + 32 here, and then 1, 2, 4 and so on.
  for (const std::uint64_t distance : {127U, 255U, 511U, 1023U}) EXPECT_TRUE(many.contains(137 + distance)) << distance;
  EXPECT_FALSE(many.contains(99));
  EXPECT_TRUE(all_to_fill(inode_in(2040), 700'000, groups).contains(30)) << "behind the last comes the first";
  EXPECT_EQ(all_to_fill(inode_in(3), 1'000'000'000, 48).size(), 48U);
}

TEST(BestPlace, HasNothingSlowWhereItsFilesWillGoOn) {
  std::vector<LookedAt> looks;
  for (std::uint64_t group = 0; group < groups; group += 16)
    looks.push_back({inode_in(group), group >= 960 && group < 1100});
  for (const std::uint64_t files : {8'192ULL, 100'000ULL, 700'000ULL}) {
    const std::size_t best = best_place(looks, {}, {.files = files, .directories = 2}, groups);
    for (const std::uint64_t group : all_to_fill(looks[best].inode, files, groups))
      EXPECT_FALSE(group >= 960 && group < 1100) << files << " files from " << looks[best].inode / 8192;
  }
}

TEST(BestPlace, MeetsWhatIsSlowLate) {
  const std::vector<LookedAt> four{
      {inode_in(1450), false}, {inode_in(1460), true}, {inode_in(1500), false}, {inode_in(1600), false}};
  EXPECT_EQ(best_place(four, {}, {.files = 100}, groups), 0U);
  EXPECT_EQ(best_place(four, {}, {.files = 300'000}, groups), 2U);
}

TEST(BestPlace, PrefersASlowGroupToAUsedOne) {
  const std::vector<LookedAt> two{{inode_in(10), false}, {inode_in(200), true}};
  EXPECT_EQ(best_place(two, {}, {.files = 100}, groups), 0U);
  EXPECT_EQ(best_place(two, {10}, {.files = 100}, groups), 1U);
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

}  // namespace
}  // namespace ullage::block_groups_test
