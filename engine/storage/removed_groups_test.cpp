// SPDX-License-Identifier: Apache-2.0
#include "storage/removed_groups.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <fstream>

#include "storage/test_support.hpp"

namespace ullage::removed_groups_test {

namespace fs = std::filesystem;

constexpr std::size_t all_groups = 2048;
constexpr std::size_t enough = 100;
constexpr BlockGroup home = 64;
constexpr ino_t directory = home * inodes_a_group + 1;
constexpr ino_t inner = directory + 33;
constexpr BlockGroup hashed = (home + inner) % all_groups;  // where the doubling steps begin

class RemovedGroupsTest : public test::OnTarget {
 protected:
  [[nodiscard]] fs::path file() const { return fs::path(target_.path()) / "cache" / "groups.bin"; }
  /// How far the files of the directory get when files of one group were removed.
  [[nodiscard]] static std::size_t fresh_without(BlockGroup group, BlockGroup of_directory = home) {
    RemovedGroups removed(all_groups, {});
    removed.enter({group});
    return removed.fresh_from(of_directory * inodes_a_group + 1, inner, enough);
  }
};

TEST_F(RemovedGroupsTest, FilesGoToTheDirectorysGroupThenByDoublingStepsThenOn) {
  EXPECT_EQ(RemovedGroups(all_groups, {}).fresh_from(directory, inner, enough), enough);
  EXPECT_EQ(fresh_without(home), 0U);
  EXPECT_EQ(fresh_without(home / groups_together * groups_together + groups_together - 1), 0U) << "they share a table";
  EXPECT_EQ(fresh_without(hashed + 1), 1U);
  EXPECT_EQ(fresh_without((hashed + 1023) % all_groups), 10U);
  EXPECT_EQ(fresh_without(home + groups_together), 10U + groups_together);
  EXPECT_EQ(fresh_without(home - 1), enough);
  EXPECT_EQ(fresh_without(home + 2, home + 1), 11U) << "no first of sixteen";
}

TEST_F(RemovedGroupsTest, ALaterLaunchKnowsThem) {
  RemovedGroups first(all_groups, file());
  RemovedGroups beside(all_groups, file());
  first.enter({home});
  beside.enter({home + 500});
  const RemovedGroups later(all_groups, file());
  EXPECT_EQ(later.fresh_from(directory, inner, enough), 0U);
  EXPECT_EQ(later.fresh_from(directory + 500 * inodes_a_group, inner, enough), 0U);
}

TEST_F(RemovedGroupsTest, ForgetsAfterSixMinutesAndWhatLiesInTheFuture) {
  RemovedGroups(all_groups, file()).enter({home});
  for (const std::int64_t shift_s : {-371, 3600}) {
    std::vector<std::uint32_t> kept(all_groups);
    kept[home] = static_cast<std::uint32_t>(std::time(nullptr) + shift_s);
    std::ofstream(file(), std::ios::binary)
        .write(reinterpret_cast<const char*>(kept.data()), static_cast<std::streamsize>(all_groups * sizeof kept[0]));
    EXPECT_EQ(RemovedGroups(all_groups, file()).fresh_from(directory, inner, enough), enough) << shift_s;
  }
}

TEST_F(RemovedGroupsTest, WithoutAFileThatCanBeUsedTheLaunchKnowsItsOwn) {
  fs::create_directory(file().parent_path());
  std::ofstream(file()) << "short";
  EXPECT_EQ(RemovedGroups(all_groups, file()).fresh_from(directory, inner, enough), enough);
  RemovedGroups nowhere(all_groups, "/proc/ullage/groups.bin");
  nowhere.enter({home});
  EXPECT_EQ(nowhere.fresh_from(directory, inner, enough), 0U);
}

TEST_F(RemovedGroupsTest, FindsTheGroupsOfAllNamesBelow) {
  fs::create_directories(target_.path() + "/tree/inner");
  test::write_file(target_.path() + "/tree/inner/file", "x");
  const Descriptor opened(::open((target_.path() + "/tree").c_str(), O_RDONLY | O_DIRECTORY));
  std::set<BlockGroup> groups;
  find_block_groups(opened.get(), groups);
  for (const std::string name : {"/tree/inner", "/tree/inner/file"}) {
    struct stat status{};
    ASSERT_EQ(::stat((target_.path() + name).c_str(), &status), 0);
    EXPECT_TRUE(groups.contains(block_group_of(status.st_ino))) << name;
  }
}

}  // namespace ullage::removed_groups_test
