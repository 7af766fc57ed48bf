// SPDX-License-Identifier: Apache-2.0
#include "storage/target_directory.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::target_directory_test {

TEST(TargetDirectoryTest, IsWhereALinkLeads) {
  const test::TempFolder folder;
  const std::string real = std::filesystem::canonical(folder.path());
  std::filesystem::create_directory(real + "/scratch");
  std::filesystem::create_directory_symlink(real + "/scratch", real + "/link");
  const auto opened = open_target(real + "/link");
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->path, real + "/scratch");
}

TEST(TargetDirectoryTest, SaysWhatIsWrongWithAPath) {
  const auto missing = open_target("/nowhere/at/all");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().text, "does not exist");
  EXPECT_EQ(open_target("").error().text, "is not a path");
  EXPECT_EQ(reason_of(EDQUOT), "is over this user's quota");
}

TEST(TargetDirectoryTest, JoinsNames) {
  EXPECT_EQ(joined("/", "a"), "/a");
  EXPECT_EQ(joined("/b", "a"), "/b/a");
}

using test::line_of;

TEST(RunFolderName, IsTheRunWithOurPrefix) { EXPECT_EQ(folder_name("r1"), "ullage-r1"); }

TEST(RunFolderName, SplitsIntoTargetAndName) {
  struct Path {
    std::string whole, parent, base;
  };
  for (const Path& path : {Path{"/scratch/me/ullage-r1", "/scratch/me", "ullage-r1"},
                           Path{"/scratch/ullage-old/ullage-r1//", "/scratch/ullage-old", "ullage-r1"},
                           Path{"ullage-r1", ".", "ullage-r1"}, Path{"/ullage-r1/", "/", "ullage-r1"}}) {
    const auto split = split_folder(path.whole);
    ASSERT_TRUE(split) << path.whole << ": " << line_of(split);
    EXPECT_EQ(split->parent, path.parent) << path.whole;
    EXPECT_EQ(split->base, path.base) << path.whole;
  }
}

TEST(RunFolderName, AnyOtherNameIsRefused) {
  for (const std::string path : {"", "/", "/scratch/me", "/scratch/ullage-", "/ullage-r1/data", "/scratch/Ullage-r1"})
    EXPECT_NE(line_of(split_folder(path)).find("refused"), std::string::npos) << path;
}

TEST(RunFolderName, KnowsTheNamesOfTheFrontsRuns) {
  for (const std::string name : {"ullage-20261122T232612Z-d2e508", "ullage-20261122T232612Z-d2e508-probe"})
    EXPECT_TRUE(is_named_by_front(name)) << name;
  for (const std::string name : {"ullage-r1", "ullage-20261122T232612Z", "ullage-20261122T232612Z-D2E508",
                                 "ullage-2026112xT232612Z-d2e508", "20261122T232612Z-d2e508"})
    EXPECT_FALSE(is_named_by_front(name)) << name;
}

}  // namespace ullage::target_directory_test
