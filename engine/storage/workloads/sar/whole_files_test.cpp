// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/whole_files.hpp"

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

class MpiSarWholeFiles : public OneRepetition {
 protected:
  /// Sizes of the files of the dataset when a phase begins, by their names.
  std::vector<std::pair<std::string, std::uintmax_t>> files_before(const Values& given, Phase phase) {
    std::vector<std::pair<std::string, std::uintmax_t>> found;
    records_ = run(given, [&](std::size_t next) {
      world().all().barrier();
      if (next != phase) return;
      for (const auto& file : std::filesystem::recursive_directory_iterator(in_dataset("")))
        if (file.is_regular_file()) found.emplace_back(file.path().filename(), file.file_size());
      std::ranges::sort(found);
    });
    EXPECT_EQ(status_, PhaseStatus::ok) << records_.dump(1);
    return found;
  }
  Json records_;
};

TEST_F(MpiSarWholeFiles, InputIsRawDataAndTemplates) {
  const auto shared = files_before({{"raw_files", number(2)}}, k1);
  ASSERT_EQ(shared.size(), 2U + 5);
  EXPECT_EQ(shared[0], (std::pair<std::string, std::uintmax_t>("raw.0.0", 50 * 41 * 8)));
  EXPECT_EQ(shared[2], (std::pair<std::string, std::uintmax_t>("template.0", 1000)));
  EXPECT_EQ(files_before({{"raw", words("own")}, {"raw_files", number(2)}}, k1).size(), 2 * ranks() + 5);
  EXPECT_EQ(records_[sdg]["bytes"], 2 * ranks() * 50 * 41 * 8 + 5 * 1000);
  EXPECT_EQ(records_[sdg]["counters"]["files"], 2 * ranks() + 5);
}

TEST_F(MpiSarWholeFiles, EveryImageIsStoredWhole) {
  const auto files = files_before({}, k3);
  EXPECT_EQ(std::ranges::count_if(files, [](const auto& file) { return file.second == 50 * 37 * 4; }), 27);
  const auto containers = files_before({{"layout", words("containers")}}, k3);
  EXPECT_EQ(std::ranges::count_if(containers, [](const auto& file) { return file.second == 3 * 50 * 37 * 4; }), 9);
}

TEST_F(MpiSarWholeFiles, AWrongByteOfRawDataIsFound) {
  for (const char* raw : {"shared", "own"}) {
    const Json records = run({{"raw", words(raw)}}, [&](std::size_t next) {
      if (next == k1 && world().root()) flip_byte(in_dataset("raw.0.0"), 12'345);
    });
    expect_wrong_data(records, k1, "raw.0.0", 12'345);
  }
}

}  // namespace
}  // namespace ullage::sar_test
