// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/batch.hpp"

#include <gtest/gtest.h>

#include "storage/posix_metadata.hpp"
#include "storage/test_support.hpp"

namespace ullage::metadata_batch_test {

TEST(MetadataBatch, HandsOutTheNamesItWasGiven) {
  test::Bench bench;
  ASSERT_TRUE(bench.folder().make_directory("c-t"));
  const auto api = make_posix_metadata(bench.folder());
  MetadataBatch batch(*api, "c-t");
  const auto root = batch.directory("");
  ASSERT_TRUE(root);
  EXPECT_EQ(*batch.directory(""), *root) << "entered once";
  for (int i = 0; i < 100; ++i) batch.add(*root, "name" + std::to_string(i), "new" + std::to_string(i), {});
  const auto items = batch.items();
  ASSERT_EQ(items.size(), 100U);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(items[i].name, "name" + std::to_string(i));
    EXPECT_EQ(items[i].new_name, "new" + std::to_string(i));
  }
  batch.clear();
  EXPECT_TRUE(batch.items().empty());
  EXPECT_FALSE(batch.directory("missing"));
}

TEST(MetadataBatch, KeepsNoMoreThanSomeDirectoriesOpen) {
  test::Bench bench;
  ASSERT_TRUE(bench.folder().make_directory("c-t"));
  const auto api = make_posix_metadata(bench.folder());
  MetadataBatch batch(*api, "c-t");
  int entered = 0;
  for (; !batch.full(); ++entered) {
    const std::string name = "d" + std::to_string(entered);
    ASSERT_TRUE(bench.folder().make_directory("c-t/" + name));
    ASSERT_TRUE(batch.directory(name));
  }
  EXPECT_LE(entered, 512) << "below the usual limit of descriptors";
  batch.clear();
  EXPECT_FALSE(batch.full());
}

}  // namespace ullage::metadata_batch_test
