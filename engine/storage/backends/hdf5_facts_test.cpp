// SPDX-License-Identifier: Apache-2.0
// What was asked for is what the library says it does, in the record, and what it did to the file.
#include <gtest/gtest.h>

#include "storage/backends/hdf5_arrays.hpp"
#include "storage/backends/hdf5_facts.hpp"
#include "storage/test_support.hpp"

namespace ullage::hdf5_facts_test {

using namespace test;

constexpr std::uint64_t file_bytes = 100'000;

struct Asked {
  Values parameters;
  Map facts;
};

class MpiHdf5Facts : public testing::TestWithParam<Asked> {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  }
};

/// A file of which nothing is written but what the library does itself.
Result<Map> facts_of(Backend& backend, OpenMode mode) {
  auto file = backend.open({"f", mode, true, file_bytes});
  if (!file) return fail(file.error());
  if (auto status = (*file)->close(); !status) return fail(status.error());
  return (*file)->hints_granted();
}

TEST_P(MpiHdf5Facts, TheRecordHasWhatTheLibrarySays) {
  Bench bench;
  const auto backend = bench.try_make("hdf5", GetParam().parameters);
  ASSERT_TRUE(backend) << line_of(backend);
  const auto facts = facts_of(**backend, OpenMode::create);
  ASSERT_TRUE(facts) << line_of(facts);
  for (const auto& [key, value] : GetParam().facts) {
    const auto found = facts->find(key);
    ASSERT_NE(found, facts->end()) << key;
    EXPECT_EQ(found->second, value) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, MpiHdf5Facts,
    testing::Values(
        Asked{{},
              {{"hdf5.layout", "contiguous"},
               {"hdf5.fill", "never"},
               {"hdf5.allocation", "early"},
               {"hdf5.alignment", "1"},
               {"hdf5.collective_metadata", "no"},
               {"hdf5.evict_on_close", "no"},
               {"hdf5.page_buffer", "0"},
               {"hdf5.format", "earliest"}}},
        Asked{{{"chunk_bytes", 30'000}, {"fill", true}},
              {{"hdf5.layout", "chunked"}, {"hdf5.chunk_elements", "30000"}, {"hdf5.fill", "when allocated"}}},
        Asked{{{"alignment_bytes", 1 << 16}, {"alignment_from_bytes", 5000}},
              {{"hdf5.alignment", "65536"}, {"hdf5.alignment_from", "5000"}}},
        Asked{{{"collective_metadata", true}, {"new_format", true}},
              {{"hdf5.collective_metadata", "reads and writes"}, {"hdf5.format", "1.10"}}}));

class MpiHdf5Effects : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  }
  /// Returns where the data of a file lies of which nobody has written any.
  [[nodiscard]] static std::vector<DataRange> ranges_of(Bench& bench, const Values& parameters) {
    const auto backend = bench.make("hdf5", parameters);
    const auto facts = facts_of(*backend, OpenMode::create);
    EXPECT_TRUE(facts) << line_of(facts);
    bench.world().all().barrier();
    const auto ranges = find_hdf5_data(**open_hdf5(), bench.path("f"), "data");
    EXPECT_TRUE(ranges) << line_of(ranges);
    return ranges ? *ranges : std::vector<DataRange>{};
  }
};

TEST_F(MpiHdf5Effects, DataBeginsWhereAlignmentAsks) {
  Bench bench;
  const auto ranges = ranges_of(bench, {{"alignment_bytes", 1 << 16}});
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_GT(ranges[0].offset_bytes, 0U);
  EXPECT_EQ(ranges[0].offset_bytes % (1 << 16), 0U);
}

TEST_F(MpiHdf5Effects, SmallObjectsAreNotAligned) {
  Bench bench;
  const auto ranges = ranges_of(
      bench, {{"alignment_bytes", 1 << 16}, {"alignment_from_bytes", static_cast<std::int64_t>(file_bytes + 1)}});
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_NE(ranges[0].offset_bytes % (1 << 16), 0U);
}

TEST_F(MpiHdf5Effects, DataLiesInChunks) {
  Bench bench;
  const auto ranges = ranges_of(bench, {{"chunk_bytes", 30'000}});
  ASSERT_EQ(ranges.size(), 4U);
  std::uint64_t sum = 0;
  for (const DataRange& range : ranges) sum += range.length_bytes;
  EXPECT_EQ(sum, file_bytes);
}

TEST_F(MpiHdf5Effects, ChunksOfSeveralDimensionsAreNoRanges) {
  Bench bench;
  const auto backend = bench.make("hdf5", {{"chunk_bytes", 500}});
  const std::vector<ArraySpec> arrays{{"frames", ElementType::byte, {10, 100}}};
  const auto file = backend->open_arrays({"f", OpenMode::create, true, 1000}, arrays);
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE((*file)->close());
  bench.world().all().barrier();
  const auto ranges = find_hdf5_data(**open_hdf5(), bench.path("f"), "frames");
  ASSERT_FALSE(ranges);
  EXPECT_NE(line_of(ranges).find("chunks of a dataset with several dimensions"), std::string::npos) << line_of(ranges);
}

/// Space that is allocated and filled has no holes; space that is never filled is one.
TEST_F(MpiHdf5Effects, FillValuesAreWrittenOnlyWhereTheyAreAskedFor) {
  for (const bool fill : {false, true})
    for (const std::int64_t chunk : {0, 50'000}) {
      Bench bench("/dev/shm");
      const auto backend = bench.make("hdf5", {{"fill", fill}, {"chunk_bytes", chunk}});
      ASSERT_TRUE(facts_of(*backend, OpenMode::create));
      bench.world().all().barrier();
      const auto extents = backend->inspect("f");
      ASSERT_TRUE(extents) << line_of(extents);
      EXPECT_EQ(extents->fully_written, fill) << "chunks of " << chunk;
    }
}

/// Parallel HDF5 1.10 has neither: the case is refused with one line. A later one that has them says so itself.
TEST_F(MpiHdf5Effects, WhatIsNotGrantedIsRefusedAndNotIgnored) {
  const std::vector<std::pair<Values, std::pair<std::string, std::string>>> wanted{
      {{{"page_buffer_bytes", 1 << 16}}, {"hdf5.page_buffer", "65536"}},
      {{{"evict_on_close", true}}, {"hdf5.evict_on_close", "yes"}}};
  for (const auto& [parameters, fact] : wanted) {
    Bench bench;
    const auto backend = bench.try_make("hdf5", parameters);
    const auto facts = backend ? facts_of(**backend, OpenMode::create) : fail(backend.error());
    if (facts) {
      EXPECT_EQ(facts->at(fact.first), fact.second);
    } else {
      const std::string line = to_line(facts.error());
      EXPECT_EQ(line.find('\n'), std::string::npos);
      EXPECT_TRUE(line.contains("parallel") || line.contains("evict_on_close")) << line;
    }
  }
}

TEST(Hdf5Words, NameModesAndCauses) {
  EXPECT_EQ(hdf5_mode_text(4), "contiguous collective");
  EXPECT_EQ(hdf5_mode_text(9), "9");
  EXPECT_EQ(hdf5_cause_text(0x02), "datatype conversion");
  EXPECT_EQ(hdf5_cause_text(0x12), "datatype conversion, dataspace");
  EXPECT_EQ(hdf5_cause_text(0x400), "1024");
}

TEST(Hdf5Words, NameWhatPropertyListsHave) {
  EXPECT_EQ(hdf5_layout_text(1), "contiguous");
  EXPECT_EQ(hdf5_layout_text(2), "chunked");
  EXPECT_EQ(hdf5_fill_text(1), "never");
  EXPECT_EQ(hdf5_allocation_text(1), "early");
  EXPECT_EQ(hdf5_format_text(2), "1.10");
  EXPECT_EQ(hdf5_format_text(-1), "-1");
}

}  // namespace ullage::hdf5_facts_test
