// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `flash`: every array comes back, and what does not is found in each of them.
#include "storage/workloads/flash/flash.hpp"

#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/workloads/flash/test_support.hpp"

namespace ullage::flash_test {
namespace {

constexpr const char* files[] = {"checkpoint", "plot-centred", "plot-corner"};

struct Way {
  std::string backend;
  bool collective = false;
};

class MpiFlash : public OneFlash, public testing::WithParamInterface<Way> {
 protected:
  void SetUp() override {
    if (GetParam().backend == "hdf5" && !hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
    use(GetParam().backend, GetParam().collective ? Values{{"collective", true}} : Values{});
  }
};

TEST_P(MpiFlash, EveryFileComesBack) {
  for (const char* name : files)
    for (const std::int64_t blocks : {0, 3}) {
      const Json records = run({{"file", std::string(name)}, {"blocks", blocks}});
      ASSERT_EQ(status_, PhaseStatus::ok) << name << records.dump();
      if (!world().root()) continue;
      ASSERT_EQ(records.size(), 2U);
      const Json& facts = records[0]["facts"];
      EXPECT_EQ(records[0]["bytes"], facts["data_bytes"]) << name;
      EXPECT_EQ(records[1]["verified_bytes"], facts["data_bytes"]) << name;
      EXPECT_EQ(records[1]["bad_blocks"], 0) << name;
      if (format_ == "raw") {
        EXPECT_EQ(facts["file_bytes"].get<std::uint64_t>(),
                  facts["data_bytes"].get<std::uint64_t>() + FlashLayout::header_bytes);
      } else {
        EXPECT_GT(facts["file_bytes"], facts["data_bytes"]);
      }
    }
}

/// Blocks of 16 cells, and plots of 4 and of 8 bytes a real: what the original's formulas say of a block, to the byte.
TEST_P(MpiFlash, LargeBlocksAndOlderPlotsHaveTheirSizes) {
  struct Case {
    const char* file;
    std::int64_t real;
    std::uint64_t block_bytes;
  };
  for (const Case& one :
       {Case{"checkpoint", 4, 786'596}, Case{"plot-centred", 4, 65'652}, Case{"plot-centred", 8, 131'236},
        Case{"plot-corner", 4, 78'724}, Case{"plot-corner", 8, 157'380}}) {
    SCOPED_TRACE(std::string(one.file) + " " + std::to_string(one.real));
    const Json records =
        run({{"file", std::string(one.file)}, {"plot_real_bytes", one.real}, {"cells", 16}, {"blocks", 2}});
    ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
    const std::uint64_t data = 2 * static_cast<std::uint64_t>(world().size()) * one.block_bytes;
    EXPECT_EQ(records[0]["bytes"], data);
    EXPECT_EQ(records[1]["verified_bytes"], data);
    if (format_ == "raw") {
      EXPECT_EQ(records[0]["facts"]["file_bytes"], data + FlashLayout::header_bytes);
    }
  }
}

/// The write of each array in turn has a bit flipped by the last rank.
TEST_P(MpiFlash, AWrongBitIsFoundInEveryArray) {
  Map inner;
  if (GetParam().collective) inner["collective"] = "true";
  const auto arrays = FlashLayout{FlashFile::checkpoint, 4, 4, 1}.arrays();
  // The header is a write of the first rank, or of all in a collective file, but of none in a file of arrays.
  for (std::size_t array = 0; array < arrays.size(); ++array) {
    const bool after_header = format_ == "raw" && (GetParam().collective || world().size() == 1);
    use("fault", {{"inner", GetParam().backend},
                  {"inner_parameters", inner},
                  {"kind", std::string("flip")},
                  {"operation", std::string("write")},
                  {"after", static_cast<std::int64_t>(array + (after_header ? 1 : 0))},
                  {"rank", std::int64_t{world().size() - 1}}});
    const Json records = run({{"blocks", 2}});
    EXPECT_EQ(status_, PhaseStatus::failed) << arrays[array].name;
    if (!world().root()) continue;
    ASSERT_EQ(records.size(), 2U) << records.dump();
    EXPECT_EQ(records[1]["bad_blocks"], 1) << arrays[array].name;
    EXPECT_NE(records[1].dump().find("'" + arrays[array].name + "'"), std::string::npos) << records[1].dump();
  }
}

TEST_P(MpiFlash, NoSpaceInMidPhaseFailsTheCaseCleanly) {
  Map inner;
  if (GetParam().collective) inner["collective"] = "true";
  use("fault", {{"inner", GetParam().backend},
                {"inner_parameters", inner},
                {"kind", std::string("enospc")},
                {"operation", std::string("write")},
                {"after", 12},
                {"rank", 0}});
  const Json records = run({{"blocks", 2}});
  EXPECT_EQ(status_, PhaseStatus::failed);
  if (!world().root()) return;
  EXPECT_EQ(records.size(), 1U);
  EXPECT_NE(records.dump().find("No space left"), std::string::npos) << records.dump();
}

INSTANTIATE_TEST_SUITE_P(
    Ways, MpiFlash, testing::Values(Way{"posix"}, Way{"mpiio"}, Way{"mpiio", true}, Way{"hdf5"}, Way{"hdf5", true}),
    [](const auto& way) { return way.param.backend + (way.param.collective ? "Collective" : "Independent"); });

class MpiFlashFile : public OneFlash {};

TEST_F(MpiFlashFile, ATruncatedFileIsFound) {
  use("posix");
  const Json records = run({}, [this] {
    if (world().root()) std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  });
  EXPECT_EQ(status_, PhaseStatus::failed) << records.dump();
}

TEST_F(MpiFlashFile, HintsThatTheLibraryUsesAreInTheRecord) {
  use("mpiio", {{"hints", Map{{"cb_buffer_size", "1048576"}}}});
  for (const Json& record : run({{"blocks", 1}}))
    EXPECT_EQ(record["hints_granted"]["cb_buffer_size"], "1048576") << record.dump();
}

TEST_F(MpiFlashFile, MemoryTakesArraysOnATargetWithoutAPath) {
  use("memory", {{"pages", std::string("shared")}});
  has_path_ = false;
  const Json records = run({{"blocks", 3}});
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump();
  if (world().root()) {
    EXPECT_EQ(records[1]["verified_bytes"], records[0]["bytes"]);
  }
}

TEST_F(MpiFlashFile, TheFormatHasToBeThatOfTheBackend) {
  use("posix");
  format_ = "arrays";
  const auto values = complete(entry().description.parameters, {{"format", format_}}, "");
  const auto workload = std::get<StorageWork>(entry().work).make(*values, context());
  const auto begun = begin_together(*workload, world().all());
  ASSERT_FALSE(begun.everywhere);
  EXPECT_EQ(begun.own.error().where, "format");
}

TEST(FlashParameters, ArraysNeedABackendThatHasThem) {
  FlashParameters parameters;
  EXPECT_TRUE(check_flash_parameters(parameters, {}, {}, "/p"));
  parameters.format = FileFormat::arrays;
  EXPECT_EQ(check_flash_parameters(parameters, {}, {}, "/p").error().where, "/p/format");
  EXPECT_TRUE(check_flash_parameters(parameters, {.arrays = true}, {}, "/p"));
}

TEST(FlashParameters, OddRealsAndUnverifiableDataAreRefused) {
  FlashParameters parameters;
  parameters.plot_real_bytes = 5;
  EXPECT_EQ(check_flash_parameters(parameters, {}, {}, "/p").error().where, "/p/plot_real_bytes");
  EXPECT_EQ(check_flash_parameters(FlashParameters{}, {.data = false}, {}, "/p").error().where, "/p/verify");
}

TEST(FlashParameters, NeedTheBytesOfTheFile) {
  PlannedLayout layout;
  layout.ranks = 2;
  const Needs needs = needs_of_flash({}, layout);
  EXPECT_EQ(needs.bytes, in_blocks(FlashLayout::header_bytes + 15'853'348U));
  EXPECT_GT(needs_of_flash({.format = FileFormat::arrays}, layout).bytes, needs.bytes);
  EXPECT_EQ(needs.inodes, 1U);
}

}  // namespace
}  // namespace ullage::flash_test

namespace ullage {
namespace {

constexpr double mib = 1 << 20;

TEST(FlashLayout, BlocksAddUp) {
  for (const std::uint64_t given : {0U, 1U, 7U}) {
    std::uint64_t before = 0;
    for (std::uint64_t rank = 0; rank < 100; ++rank) {
      EXPECT_EQ(flash_blocks_before(given, rank), before);
      before += flash_blocks(given, rank);
    }
  }
  EXPECT_EQ(flash_blocks_before(0, 2), 161U);
  EXPECT_EQ(flash_blocks_before(0, 512), 41'471U);
}

/// What the benchmark's port to PnetCDF printed for 512 ranks, with 4-byte and, in an older version, 8-byte plots.
TEST(FlashLayout, SizesAreThoseThatWerePublished) {
  const auto size = [](FlashFile file, std::uint64_t real) {
    return static_cast<double>(FlashLayout{file, 16, real, 41'471}.data_bytes()) / mib;
  };
  EXPECT_NEAR(size(FlashFile::checkpoint, 4), 31'109.74, 0.01);
  EXPECT_NEAR(size(FlashFile::plot_centred, 4), 2'596.5, 0.1);
  EXPECT_NEAR(size(FlashFile::plot_corner, 4), 3'113.5, 0.1);
  EXPECT_NEAR(size(FlashFile::plot_centred, 8), 5'190.36, 0.01);
  EXPECT_NEAR(size(FlashFile::plot_corner, 8), 6'224.35, 0.01);
}

TEST(FlashLayout, SizesToTheByte) {
  const auto size = [](FlashFile file) { return FlashLayout{file, 8, 4, 161}.data_bytes(); };
  EXPECT_EQ(size(FlashFile::checkpoint), 161U * (24 * 512 * 8 + 164));
  EXPECT_EQ(size(FlashFile::plot_centred), 161U * (4 * 512 * 4 + 116));
  EXPECT_EQ(size(FlashFile::plot_corner), 161U * (4 * 729 * 4 + 116));
}

TEST(FlashLayout, ArraysLieOneBehindTheOther) {
  for (const auto file : {FlashFile::checkpoint, FlashFile::plot_centred, FlashFile::plot_corner}) {
    const FlashLayout layout{file, 8, 4, 161};
    const auto arrays = layout.arrays();
    const auto offsets = flash_offsets(arrays);
    std::uint64_t next = FlashLayout::header_bytes;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      EXPECT_EQ(offsets[i], next);
      next += arrays[i].size_bytes();
    }
    EXPECT_EQ(next, FlashLayout::header_bytes + layout.data_bytes());
    EXPECT_EQ(arrays.size(), FlashLayout::metadata_arrays + layout.unknowns().size());
    const std::string header = flash_header(arrays);
    EXPECT_EQ(header.size(), FlashLayout::header_bytes);
    for (const auto& name : layout.unknowns()) EXPECT_NE(header.find(" " + name + "\n"), std::string::npos);
    EXPECT_EQ(header.back(), '\0') << "the table does not fit";
  }
}

/// Sizes beyond 2 and 4 GiB, and a header that is long enough for them.
TEST(FlashLayout, LargeCountsDoNotWrap) {
  const FlashLayout layout{FlashFile::checkpoint, 16, 4, 40'000'000};
  EXPECT_EQ(layout.data_bytes(), 40'000'000ULL * (24 * 4096 * 8 + 164));
  EXPECT_GT(flash_offsets(layout.arrays()).back(), 1ULL << 40);
  EXPECT_EQ(flash_header(layout.arrays()).back(), '\0');
}

}  // namespace
}  // namespace ullage
