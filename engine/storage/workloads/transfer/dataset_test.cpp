// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/dataset.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"

namespace ullage::transfer_dataset_test {
namespace {

TransferDataset dataset(FileMode mode) {
  TransferDataset made;
  made.written = {4096, 65536, 2, 3, mode};
  made.directory_per_process = mode == FileMode::per_process;
  made.compress_ratio = 2;
  made.key = 7;
  made.generation = 1;
  made.operations = 32;
  return made;
}

TEST(TransferDataset, ComesBackFromItsFacts) {
  for (const FileMode mode : {FileMode::shared, FileMode::per_process}) {
    const Json facts = dataset(mode).facts({{"order", 0}});
    EXPECT_EQ(facts["workload"], "transfer");
    EXPECT_EQ(TransferDataset::from(facts).facts({{"order", 0}}), facts);
  }
}

TEST(TransferDataset, FilesAreOneOrOneOfEachRank) {
  EXPECT_EQ(dataset(FileMode::shared).entry("d"), (DatasetEntry{"d", "d", 1, false, false, std::nullopt}));
  EXPECT_EQ(dataset(FileMode::per_process).entry("d"), (DatasetEntry{"d", "d", 3, true, true, std::nullopt}));
}

TEST(TransferDataset, DataOfAnotherGenerationIsOtherData) {
  TransferDataset later = dataset(FileMode::shared);
  ++later.generation;
  EXPECT_NE(later.payload().run_key, dataset(FileMode::shared).payload().run_key);
  EXPECT_EQ(later.payload().file_bytes, 3U * 2 * 65536);
  EXPECT_TRUE(later.payload().shared_file);
}

}  // namespace
}  // namespace ullage::transfer_dataset_test
