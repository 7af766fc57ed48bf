// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `sar`.
#include "storage/workloads/sar/sar.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/sar/test_support.hpp"

namespace ullage::sar_test {
namespace {

class MpiSar : public OneRepetition {
 protected:
  /// 27 images and 18 pairs went through all kernels.
  void expect_whole(const Json& records, const std::string& what) {
    ASSERT_EQ(status_, PhaseStatus::ok) << what << records.dump(1) << test::line_of(begun_);
    ASSERT_EQ(records.size(), 5U);
    const std::vector<std::uint64_t> operations{0, 27, 27, 18, 18};
    for (const Phase phase : {k1, k2, k3, k4}) {
      EXPECT_EQ(records[phase]["operations"], operations[phase]) << what << " " << phase;
      EXPECT_EQ(records[phase]["bad_blocks"], 0) << what;
    }
    EXPECT_EQ(records[k1]["bytes"], 27 * 50 * 41 * 8) << what;
    EXPECT_EQ(records[k2]["bytes"], 27 * 50 * 37 * 4) << what;
    EXPECT_EQ(records[k2]["counters"]["files"], 27) << what;
    EXPECT_EQ(records[k1]["verified_bytes"], records[k1]["bytes"]) << what;
    EXPECT_EQ(records[k3]["verified_bytes"], 18 * 2 * (50 * 37 * 4 + 9 * 9 * 4)) << what;
    EXPECT_EQ(records[k3]["counters"]["images"], 36) << what;
  }
};

TEST_F(MpiSar, EveryLayoutAndSyncGoesThroughAllKernelsAndLeavesNothing) {
  for (const char* layout : {"files", "containers"})
    for (const char* sync : {"none", "close", "fsync"})
      for (const char* raw : {"shared", "own"}) {
        const Values given{{"layout", words(layout)}, {"sync", words(sync)}, {"raw", words(raw)}};
        expect_whole(run(given), std::string(layout) + " " + sync + " " + raw);
        expect_nothing_left();
      }
}

TEST_F(MpiSar, SyncsAreThoseAskedFor) {
  const Json each = run({{"sync", words("fsync")}});
  EXPECT_EQ(each[k2]["latency_parts"]["sync"]["operations"], 27);
  EXPECT_EQ(each[k2]["syncs"], 0);
  EXPECT_EQ(each[k3]["syncs"], ranks());
  const Json once = run({{"sync", words("close")}, {"cache", words("drop")}});
  EXPECT_EQ(once[k2]["syncs"], ranks());
  EXPECT_FALSE(once[k2]["latency_parts"].contains("sync"));
  EXPECT_EQ(once[k3]["cache_control"], "drop");
}

TEST_F(MpiSar, ARankReadsWhatAnotherHasWrittenUnlessItSaysSo) {
  const Json other = run({{"raw", words("own")}});
  for (const Phase phase : {k1, k3, k4}) EXPECT_EQ(other[phase]["data_of"], ranks() == 1 ? "own" : "other-rank");
  EXPECT_EQ(run({{"raw", words("shared")}})[k1]["data_of"], "own");
  const Json own = run({{"read_back", words("own")}});
  for (const Phase phase : {k1, k3, k4}) EXPECT_EQ(own[phase]["data_of"], "own");
}

TEST_F(MpiSar, RanksWithoutALocationWait) {
  const Json records = run({{"grid", number(1)}});
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump(1);
  EXPECT_EQ(records[k2]["operations"], 3);
  EXPECT_EQ(records[k3]["operations"], 2);
  EXPECT_EQ(records[k4]["operations"], 2);
  expect_nothing_left();
}

TEST_F(MpiSar, OtherBackendsTakeImagesWhereTheyAreAvailable) {
  for (const char* backend : {"stdio", "mmap", "uring", "mpiio", "pmem"}) {
    if (Registry<BackendEntry>::instance().find(backend)->description.unavailable()) continue;
    use(backend);
    for (const char* layout : {"files", "containers"})
      expect_whole(run({{"layout", words(layout)}, {"sync", words("none")}}), std::string(backend) + " " + layout);
    expect_nothing_left();
  }
}

TEST_F(MpiSar, MemoryTakesImagesOfTheRankItself) {
  use("memory");
  has_path_ = false;
  const Json records =
      run({{"sync", words("none")}, {"read_back", words("own")}, {"raw", words("own")}, {"templates", number(1)}});
  if (ranks() == 1) expect_whole(records, "memory");
}

TEST_F(MpiSar, DirectIoIsRefusedSinceRowsBeginAtAnyPixel) {
  use("posix", {{"direct", true}});
  EXPECT_TRUE(run({}).empty());
  EXPECT_NE(begun_.error().text.find("rows of sub-images begin at any pixel"), std::string::npos);
  expect_nothing_left();
}

TEST_F(MpiSar, AnErrorOfOneRankLeavesNobodyWaiting) {
  for (const auto& [kind, errno_value] : {std::pair("enospc", ENOSPC), std::pair("eio", EIO)}) {
    use("fault", {{"inner", words("posix")},
                  {"kind", words(kind)},
                  {"operation", words("write")},
                  {"after", number(8)},
                  {"rank", number(world().size() - 1)}});
    const Json records = run({});
    EXPECT_EQ(status_, PhaseStatus::failed);
    EXPECT_EQ(records.back()["failures"][0]["errno"], errno_value) << records.back().dump(1);
    expect_nothing_left();
  }
}

TEST_F(MpiSar, SimulatedDevicesAndNoneAreTimedAlone) {
  for (const char* backend : {"null", "model"}) {
    use(backend);
    const Json records = run({{"verify", words("none")}, {"sync", words("none")}});
    ASSERT_EQ(status_, PhaseStatus::ok) << records.dump(1);
    EXPECT_EQ(records[k2]["operations"], 27) << backend;
    EXPECT_EQ(records[k4]["operations"], 18) << backend;
  }
}

using sar_test::number;
using sar_test::parameters_of;
using sar_test::words;

PlannedLayout on(int ranks) {
  PlannedLayout layout;
  layout.ranks = ranks;
  return layout;
}

/// Returns where the parameters are refused, and why; empty where they are not.
std::string refusal(const Values& given, const Capabilities& capabilities = {.metadata = true}) {
  const Status status = check_sar(parameters_of(given), capabilities, on(4), "/p");
  return status ? "" : status.error().where + ": " + status.error().text;
}

TEST(SarParameters, WhatCannotBeIsRefusedWithItsPlace) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({{"subimage_side", number(38)}}), "/p/subimage_side: must be at most the 37 columns of an image");
  EXPECT_EQ(refusal({{"subimage_side", number(51)}, {"columns", number(60)}}),
            "/p/subimage_side: must be at most the 50 rows of an image");
  EXPECT_EQ(refusal({{"grid", number(4096)}, {"depth", number(1'000'000)}, {"rows", number(1'000'000)}}),
            "/p/depth: makes more than 4e18 bytes with the other sizes");
  EXPECT_EQ(refusal({}, {.data = false, .metadata = true}), "/p/verify: must be none: this backend holds no data");
  EXPECT_EQ(refusal({}, {}), "/p/sync: must be none: this backend has no metadata operations");
  EXPECT_EQ(refusal({{"sync", words("none")}}, {}), "");
}

TEST(SarParameters, RoomIsThatOfEveryFile) {
  const SarParameters p = parameters_of({{"raw", words("own")}, {"raw_files", number(2)}});
  const Needs files = needs_of_sar(p, on(2));
  // 2 x 2 raw files of 16,400 bytes and 27 images of 7,400; 5 templates; groups of 648 and records of 128 bytes of at
  // most 10 pairs a rank.
  EXPECT_EQ(files.bytes, 4U * 20'480 + 27U * 8192 + 5U * 4096 + 2U * (8192 + 4096));
  EXPECT_EQ(files.inodes, 4U + 27 + 5 + 4 + 9);
  const Needs containers = needs_of_sar(parameters_of({{"layout", words("containers")}}), on(2));
  EXPECT_EQ(containers.bytes, 20'480U + 9U * 24'576 + 5U * 4096 + 2U * (8192 + 4096));
  EXPECT_EQ(containers.inodes, 1U + 9 + 5 + 4);
}

TEST(SarParameters, UnsaidSizesAreThoseOfThePublishedImages) {
  const SarParameters unsaid;
  EXPECT_EQ(unsaid.shape(1).image_bytes(), SarShape{}.image_bytes());
  EXPECT_EQ(unsaid.shape(1).raw_bytes(), SarShape{}.raw_bytes());
  EXPECT_EQ(unsaid.templates * unsaid.template_bytes, 40U * 4096);
}

}  // namespace
}  // namespace ullage::sar_test

namespace ullage::sar_pattern_test {

TEST(SarPattern, SizesAreThoseOfThePublishedImages) {
  const SarShape shape;
  EXPECT_EQ(shape.image_bytes(), 3'459'456U);
  EXPECT_EQ(shape.raw_bytes(), 9'810'944U);
  EXPECT_EQ(shape.run_bytes(), 256U);
  EXPECT_EQ(shape.group_bytes(), 8U * 16384);
  EXPECT_EQ(shape.records_bytes(), 8U * 64);
}

TEST(SarPattern, LocationsAreDealtInTurns) {
  SarShape shape;
  shape.grid = 3;
  shape.ranks = 4;
  EXPECT_EQ(shape.locations_of(0), 3U);
  for (const std::uint64_t rank : {1U, 2U, 3U}) EXPECT_EQ(shape.locations_of(rank), 2U);
  shape.ranks = 12;
  EXPECT_EQ(shape.locations_of(8), 1U);
  EXPECT_EQ(shape.locations_of(9), 0U) << "more ranks than locations";
  EXPECT_EQ(shape.pairs_of(9), 0U);
}

TEST(SarPattern, AStreamGoesOverAllLocationsAtEachTime) {
  SarShape shape;
  shape.grid = 8;
  shape.depth = 3;
  const StoreOrder order(shape, 0);
  std::uint64_t in_place = 0;
  std::uint64_t alike = 0;
  for (std::uint64_t i = 0; i < 192; ++i) {
    EXPECT_EQ(order(i).time, i / 64);
    in_place += order(i).location == i % 64 ? 1U : 0U;
    alike += order(i).location == order((i + 64) % 192).location ? 1U : 0U;
  }
  EXPECT_LT(in_place, 30U) << "a random order leaves 3 in place on average";
  EXPECT_LT(alike, 30U) << "each time has an order of its own";
}

TEST(SarPattern, AnotherSeedIsAnotherOrder) {
  SarShape shape;
  shape.grid = 8;
  SarShape other = shape;
  other.seed = 2;
  std::uint64_t alike = 0;
  for (std::uint64_t i = 0; i < 64; ++i) {
    alike += StoreOrder(shape, 0)(i) == StoreOrder(other, 0)(i) ? 1U : 0U;
    alike += PairOrder(shape, 0)(i) == PairOrder(other, 0)(i) ? 1U : 0U;
  }
  EXPECT_LT(alike, 30U);
}

TEST(SarPattern, PairsOfALocationComeInTheOrderOfTime) {
  SarShape shape;
  shape.depth = 4;
  const PairOrder order(shape, 0);
  for (std::uint64_t i = 0; i < shape.pairs_of(0); ++i) {
    EXPECT_EQ(order(i).time, i % 3);
    EXPECT_EQ(order(i).location, order(i - i % 3).location);
  }
}

TEST(SarPattern, RowsOfASubimageAreARowOfTheImageApart) {
  const SarShape shape;
  EXPECT_EQ(run_offset_bytes(shape, {10, 20}, 0), (10U * 756 + 20) * 4);
  EXPECT_EQ(run_offset_bytes(shape, {10, 20}, 1) - run_offset_bytes(shape, {10, 20}, 0), 3024U);
}

TEST(SarPattern, ContainersHoldTheImagesInTheOrderOfTime) {
  const SarShape shape;
  EXPECT_EQ(image_offset_bytes(shape, ImageLayout::files, 3), 0U);
  EXPECT_EQ(image_offset_bytes(shape, ImageLayout::containers, 3), 3 * shape.image_bytes());
}

TEST(SarSubimages, RowsFillTheirGroupOneBehindTheOther) {
  const SarShape shape;
  std::vector<std::byte> group(shape.group_bytes());
  std::vector<Extent> runs(3);  // of another operation
  const ImageAt earlier{5, 0};
  runs_of(shape, earlier, 7 * shape.image_bytes(), group, runs);
  ASSERT_EQ(runs.size(), shape.subimages * shape.side);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Corner corner = corner_of(shape, earlier, i / 64);
    EXPECT_EQ(runs[i].offset_bytes, 7 * shape.image_bytes() + run_offset_bytes(shape, corner, i % 64));
    EXPECT_EQ(runs[i].length_bytes, 256U);
    EXPECT_EQ(runs[i].data, group.data() + i * 256);
  }
}

}  // namespace ullage::sar_pattern_test
