// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/dataset.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/test_support.hpp"

namespace ullage::transfer_dataset_test {

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

class MpiTransferFiles : public test::StorageWorkloadTest {
 protected:
  MpiTransferFiles() : StorageWorkloadTest("d") {
    use("posix");
    context_ = context();
    files_.context = &context_;
    files_.dataset = {"d", "c-d", static_cast<std::uint64_t>(bench_.world().size()), true, false, std::nullopt};
  }
  /// The codes of the notices where data of this kind was found.
  [[nodiscard]] std::string told(ReadBack wanted, const std::string& data_of) {
    files_.data_of = data_of;
    PhaseInfo info;
    tell_whose(wanted, files_.data_of, info);
    return info.notices.empty() ? "" : info.notices.front().code;
  }

  StorageContext context_;
  TransferFiles files_;
};

TEST_F(MpiTransferFiles, EachRankHasItsOwnOrAllHaveOne) {
  EXPECT_EQ(files_.file_of(3), "c-d/data.00000003");
  EXPECT_TRUE(files_.looks());
  files_.dataset.per_process = false;
  EXPECT_EQ(files_.file_of(3), "c-d/data");
  EXPECT_EQ(files_.looks(), bench_.world().topology().leader());
}

TEST_F(MpiTransferFiles, RankInErrorIsWaitedForAndKeepsItsError) {
  const bool misses = bench_.world().rank() == bench_.world().size() - 1;
  if (bench_.world().root()) {
    EXPECT_TRUE(backend_->make_directory("c-d"));
  }
  bench_.world().all().barrier();
  if (!misses) test::write_file(bench_.path(files_.file_of(bench_.world().rank())), "x");
  files_.source_rank = bench_.world().rank();
  EXPECT_EQ(files_.control_cache(CacheControl::advise).has_value(), !misses);
  EXPECT_TRUE(files_.control_cache(CacheControl::none));
}

TEST_F(MpiTransferFiles, DataThatIsNearerThanAskedForIsTold) {
  EXPECT_EQ(told(ReadBack::own, "own"), "");
  EXPECT_EQ(told(ReadBack::other_rank, "own"), "read-back-own");
  EXPECT_EQ(told(ReadBack::other_rank, "other-rank"), "");
  EXPECT_EQ(told(ReadBack::other_node, "other-rank"), "read-back-same-node");
  EXPECT_EQ(told(ReadBack::other_node, "other-node"), "");
}

}  // namespace ullage::transfer_dataset_test
