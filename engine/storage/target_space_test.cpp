// SPDX-License-Identifier: Apache-2.0
#include "storage/target_space.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::target_space_test {

TEST(TargetSpace, OfAnyFolder) {
  const auto space = target_space("/");
  ASSERT_TRUE(space);
  EXPECT_GT(space->block_bytes, 0U);
  EXPECT_GT(space->free_inodes, 0U);
  EXPECT_FALSE(space->file_system.empty());
}

TEST(TargetSpace, MemoryIsNoDisk) {
  const test::SmallFileSystem small("size=1m,nr_inodes=10");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  const auto space = target_space(small.path());
  ASSERT_TRUE(space);
  EXPECT_EQ(space->file_system, "tmpfs");
  EXPECT_TRUE(space->memory);
  EXPECT_EQ(space->free_bytes, 1U << 20U);
  EXPECT_EQ(space->free_inodes, 9U);
}

TEST(TargetSpace, MissingPathIsAnEnvironmentError) {
  const auto space = target_space("/nowhere/at/all");
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().kind, ErrorKind::environment);
  EXPECT_EQ(to_line(space.error()), "/nowhere/at/all: does not exist");
}

TEST(TargetSpace, NamesOfMagics) {
  EXPECT_EQ(file_system_name(0x0bd00bd0), "lustre");
  EXPECT_EQ(file_system_name(0xff534d42), "cifs");
  EXPECT_EQ(file_system_name(0x1234), "0x1234");
}

}  // namespace ullage::target_space_test
