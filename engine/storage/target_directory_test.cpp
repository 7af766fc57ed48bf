// SPDX-License-Identifier: Apache-2.0
#include "storage/target_directory.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::target_directory_test {
namespace {

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

}  // namespace
}  // namespace ullage::target_directory_test
