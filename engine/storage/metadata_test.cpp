// SPDX-License-Identifier: Apache-2.0
#include "storage/metadata.hpp"

#include <gtest/gtest.h>

#include <set>

namespace ullage::metadata_test {

constexpr auto all_operations = {MetadataOperation::mkdir,  MetadataOperation::create,   MetadataOperation::stat,
                                 MetadataOperation::read,   MetadataOperation::rename,   MetadataOperation::readdir,
                                 MetadataOperation::chmod,  MetadataOperation::truncate, MetadataOperation::open,
                                 MetadataOperation::unlink, MetadataOperation::rmdir};

TEST(MetadataOperation, EveryOneHasAWordOfItsOwn) {
  std::set<std::string> words;
  for (const auto operation : all_operations) words.insert(word(operation));
  EXPECT_EQ(words.size(), all_operations.size());
}

TEST(MetadataOperation, PartsBeginWithOpenAndEndWithClose) {
  for (const auto operation : all_operations) {
    const auto parts = parts_of(operation);
    if (parts.empty()) continue;
    EXPECT_EQ(parts.front(), "open");
    EXPECT_EQ(parts.back(), "close");
  }
  EXPECT_EQ(parts_of(MetadataOperation::create).size(), 3U);
  EXPECT_TRUE(parts_of(MetadataOperation::stat).empty());
}

}  // namespace ullage::metadata_test
