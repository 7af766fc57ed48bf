// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/file_system_sync.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::file_system_sync_test {
namespace {

TEST(FileSystemSync, SyncsADirectoryThatIsThereAndNamesOneThatIsNot) {
  test::Bench bench;
  const auto backend = bench.make("posix");
  ASSERT_TRUE(backend->make_directory("d"));
  EXPECT_TRUE(sync_file_system_of(*backend, "d"));
  const auto missing = sync_file_system_of(*backend, "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().errno_value, ENOENT) << test::line_of(missing);
}

TEST(FileSystemSync, IsRefusedWithoutNames) {
  test::Bench bench;
  EXPECT_FALSE(sync_file_system_of(*bench.make("memory"), "d"));
}

}  // namespace
}  // namespace ullage::file_system_sync_test
