// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of the workload through MPI-IO.
#include "storage/workloads/tile/tile.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/tile/test_support.hpp"

namespace ullage::tile_workload_test {

using tile_test::number;
using tile_test::words;

class MpiTile : public tile_test::OneRepetition {
 protected:
  [[nodiscard]] int ranks() const { return world().size(); }
  void expect_whole(const Json& records, const Values& given) {
    ASSERT_EQ(status_, PhaseStatus::ok) << records.dump(1);
    const TileShape shape = tile_test::parameters_of(given).shape();
    for (const Json& record : records) {
      EXPECT_EQ(record["bytes"], shape.tiles() * shape.frames * shape.tile_bytes());
      EXPECT_EQ(record["operations"], shape.tiles() * shape.frames);
    }
    EXPECT_EQ(records[1]["verified_bytes"], records[1]["bytes"]);
    EXPECT_EQ(records[1]["bad_blocks"], 0);
    expect_nothing_left();
  }
};

TEST_F(MpiTile, IsWrittenAndReadBackAtItsExactSize) {
  for (const char* calls : {"independent", "collective"})
    for (const std::int64_t frames : {1, 3}) {
      Values given = tiles_for(ranks());
      given["calls"] = words(calls);
      given["frames"] = number(frames);
      given["header_bytes"] = number(1001);
      std::uintmax_t found = 0;
      const Json records = run(given, [&] { found = std::filesystem::file_size(file()); });
      EXPECT_EQ(found, tile_test::parameters_of(given).shape().file_bytes()) << calls;
      expect_whole(records, given);
      EXPECT_EQ(records[0]["facts"]["calls"], calls);
      EXPECT_EQ(records[0]["facts"]["surplus_count"], 0);
    }
}

TEST_F(MpiTile, DepthAndWideOverlaps) {
  Values given{{"tiles_z", number(ranks())}, {"tile_x", number(30)},        {"tile_y", number(20)},
               {"tile_z", number(8)},        {"overlap_z", number(6)},      {"element_bytes", number(5)},
               {"frames", number(2)},        {"calls", words("collective")}};
  expect_whole(run(given), given);
  given["calls"] = words("independent");
  expect_whole(run(given), given);
}

TEST_F(MpiTile, SurplusRanksAreNamedAndWait) {
  if (ranks() < 2) GTEST_SKIP() << "there is no rank to spare";
  for (const char* calls : {"independent", "collective"}) {
    Values given = tiles_for(ranks() - 1);
    given["calls"] = words(calls);
    const Json records = run(given);
    expect_whole(records, given);
    EXPECT_EQ(records[0]["facts"]["surplus_ranks"], Json::array({ranks() - 1}));
    EXPECT_EQ(records[0]["facts"]["surplus_count"], 1);
  }
}

TEST_F(MpiTile, FramesThatMemoryDoesNotHoldAreReadAgain) {
  for (const char* calls : {"independent", "collective"}) {
    Values given = tiles_for(ranks());
    given["calls"] = words(calls);
    given["frames"] = number(5);
    given["buffers"] = number(45000);  // two frames
    const Json records = run(given);
    EXPECT_EQ(records[0]["facts"]["frames_in_memory"], 2);
    expect_whole(records, given);
  }
}

TEST_F(MpiTile, OffsetsBeyondFourGibibytes) {
  for (const char* calls : {"independent", "collective"})
    for (const std::int64_t gib : {3, 5}) {
      Values given = tiles_for(ranks());
      given["calls"] = words(calls);
      given["header_bytes"] = number(gib << 30);
      given["frames"] = number(2);
      expect_whole(run(given), given);
    }
}

TEST_F(MpiTile, AnErrorOfOneRankLeavesNobodyWaiting) {
  for (const char* calls : {"independent", "collective"})
    for (const auto& [kind, errno_value] : {std::pair("enospc", ENOSPC), std::pair("eio", EIO)}) {
      use("fault", {{"inner", words("mpiio")},
                    {"kind", words(kind)},
                    {"operation", words("write")},
                    {"after", number(2)},
                    {"rank", number(ranks() - 1)}});
      Values given = tiles_for(ranks());
      given["frames"] = number(5);
      given["calls"] = words(calls);
      const Json records = run(given);
      EXPECT_EQ(status_, PhaseStatus::failed);
      ASSERT_EQ(records.size(), 1U);
      EXPECT_EQ(records[0]["failures"][0]["errno"], errno_value) << calls << " " << records[0]["failures"].dump(1);
      expect_nothing_left();
    }
}

TEST_F(MpiTile, AFlippedBitIsFoundWhereverItHappened) {
  for (const char* operation : {"write", "read"}) {
    use("fault", {{"inner", words("mpiio")},
                  {"kind", words("flip")},
                  {"operation", words(operation)},
                  {"after", number(1)},
                  {"rank", number(0)},
                  {"flip_bit", number(4321)}});
    Values given = tiles_for(ranks());
    given["frames"] = number(3);
    given["overlap_x"] = number(0);  // else a neighbour may write the right byte over it
    given["overlap_y"] = number(0);
    const Json records = run(given);
    EXPECT_EQ(status_, PhaseStatus::failed) << operation;
    EXPECT_GE(records[1]["bad_blocks"].get<int>(), 1);
    expect_nothing_left();
  }
}

TEST_F(MpiTile, ADeviceWithoutDataIsTimedAlone) {
  use("model", {{"bandwidth", 1e9}});
  Values given = tiles_for(ranks());
  given["verify"] = words("none");
  given["frames"] = number(4);
  const Json records = run(given);
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_EQ(records[1]["operations"], 4 * ranks());
}

using tile_test::parameters_of;

Status checked(const Values& given, int ranks = 6, const Capabilities& capabilities = {.views = true}) {
  PlannedLayout layout;
  layout.ranks = ranks;
  return check_tile(parameters_of(given), capabilities, layout, "/p");
}

void expect_refused(const Status& status, const std::string& where, const std::string& what) {
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().where, where);
  EXPECT_NE(status.error().text.find(what), std::string::npos) << status.error().text;
}

TEST(TileParameters, DefaultsAreThoseOfTheOriginal) {
  const TileParameters defaults;
  EXPECT_EQ(defaults.shape().frame_bytes(), 1024U * 1024 * 3);
  EXPECT_EQ(defaults.shape().tiles(), 1U);
  EXPECT_EQ(defaults.calls, TileCalls::independent);
}

TEST(TileParameters, WhatCannotBeIsRefusedWithItsPlace) {
  EXPECT_TRUE(checked({}).has_value());
  expect_refused(checked({{"tiles_x", 3}, {"tiles_y", 3}}), "/p/tiles_x",
                 "makes 9 tiles with the others, but there are 6 ranks");
  expect_refused(checked({{"overlap_y", 1024}}), "/p/overlap_y", "below the 1024 elements");
  expect_refused(checked({{"tiles_x", 2147483647}}), "/p/tiles_x", "more than 2147483647 elements");
  expect_refused(checked({{"tile_x", 2000000000}, {"tile_y", 2000000000}, {"element_bytes", 2000000000}}), "/p/frames",
                 "4e18");
  expect_refused(checked({{"phases", std::vector<std::string>{"read"}}}), "/p/phases", "write");
  expect_refused(checked({}, 6, {.views = false}), "/p", "views");
  expect_refused(checked({}, 6, {.data = false, .views = true}), "/p/verify", "holds no data");
}

TEST(TileParameters, WhatALibraryWithArraysDecidesIsRefused) {
  const Capabilities arrays{.arrays = true};
  EXPECT_TRUE(checked({}, 6, arrays).has_value());
  expect_refused(checked({{"header_bytes", 8}}, 6, arrays), "/p/header_bytes", "must be 0");
  const TileParameters independent = parameters_of({});
  const TileParameters collective = parameters_of({{"calls", std::string("collective")}});
  EXPECT_TRUE(check_tile_backend(independent, arrays));
  EXPECT_TRUE(check_tile_backend(collective, {.views = true}));
  expect_refused(check_tile_backend(collective, arrays), "calls", "must be independent, as the backend's");
  expect_refused(check_tile_backend(independent, {.collective = true, .arrays = true}), "calls", "must be collective");
  expect_refused(check_tile_backend(parameters_of({{"header_bytes", 8}}), arrays), "header_bytes", "must be 0");
}

TEST(TileParameters, RoomIsThatOfTheFrames) {
  const TileParameters parameters = parameters_of({{"frames", 5}, {"header_bytes", std::int64_t{1} << 40}});
  EXPECT_EQ(needs_of_tile(parameters).bytes, 5U * 1024 * 1024 * 3);
}

}  // namespace ullage::tile_workload_test

namespace ullage::tile_shape_test {

TileShape shape_of(TileAxis z, TileAxis y, TileAxis x, std::uint64_t element_bytes, std::uint64_t header_bytes = 0) {
  TileShape shape;
  shape.axes = {z, y, x};
  shape.element_bytes = element_bytes;
  shape.header_bytes = header_bytes;
  return shape;
}

TEST(TileShape, SizesAreThoseOfTheOriginal) {
  const TileShape measured = shape_of({}, {2, 1024, 8}, {2, 1024, 16}, 16);
  EXPECT_EQ(measured.file_bytes(), 66324480U);
  const TileShape display = shape_of({}, {2, 768, 128}, {3, 1024, 270}, 3);
  EXPECT_EQ(display.axes[2].elements(), 2532U);
  EXPECT_EQ(display.axes[1].elements(), 1408U);
  EXPECT_EQ(display.frame_bytes(), 2532U * 1408 * 3);
  EXPECT_EQ(display.tile_bytes(), 1024U * 768 * 3);
  EXPECT_EQ(display.tiles(), 6U);
}

TEST(TileShape, HeaderAndFramesComeBeforeAndBehind) {
  TileShape shape = shape_of({}, {2, 10, 0}, {2, 10, 0}, 3, 100);
  shape.frames = 4;
  EXPECT_EQ(shape.file_bytes(), 100U + 4 * 20 * 20 * 3);
  EXPECT_EQ(shape.row_offset_bytes(0, 0, 0), 100U);
  EXPECT_EQ(shape.row_offset_bytes(0, 2, 0), 100U + 2 * 1200);
  EXPECT_EQ(shape.row_offset_bytes(3, 0, 0), 100U + (10 * 20 + 10) * 3) << "x runs fastest over the ranks";
  EXPECT_EQ(shape.row_offset_bytes(1, 0, 1), 100U + (20 + 10) * 3);
}

TEST(TileShape, DepthIsTheSlowestDimension) {
  const TileShape shape = shape_of({2, 4, 1}, {3, 5, 2}, {2, 6, 3}, 8);
  EXPECT_TRUE(shape.has_depth());
  EXPECT_EQ(shape.frame_bytes(), 7U * 11 * 9 * 8);
  EXPECT_EQ(shape.place_of(7), (std::array<std::uint64_t, 3>{1, 0, 1}));
  EXPECT_EQ(shape.row_offset_bytes(7, 0, 0), (3U * 11 * 9 + 3) * 8);
  EXPECT_EQ(shape.view_of(7).array->begins, (std::vector<std::uint64_t>{3, 0, 3}));
  const TileShape flat = shape_of({}, {3, 5, 2}, {2, 6, 3}, 8);
  EXPECT_EQ(flat.view_of(0).array->sizes, (std::vector<std::uint64_t>{11, 9}));
}

TEST(TileShape, NothingIsCutTo32Bits) {
  TileShape shape = shape_of({}, {1000, 100000, 0}, {1000, 100000, 0}, 1000, std::uint64_t{5} << 30);
  EXPECT_EQ(shape.frame_bytes(), 10'000'000'000'000'000'000U);
  shape = shape_of({}, {2, 50000, 0}, {2, 50000, 0}, 16, std::uint64_t{5} << 30);
  EXPECT_EQ(shape.row_offset_bytes(3, 0, 0), (std::uint64_t{5} << 30) + (50000ULL * 100000 + 50000) * 16);
  EXPECT_EQ(shape.tile_bytes(), 50000ULL * 50000 * 16);
}

}  // namespace ullage::tile_shape_test
