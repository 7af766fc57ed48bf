// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of the workload in files of parallel HDF5: tiles are parts of an array.
#include <gtest/gtest.h>

#include "storage/backends/hdf5_arrays.hpp"
#include "storage/workloads/tile/test_support.hpp"

namespace ullage::tile_hdf5_test {

using tile_test::number;
using tile_test::words;

/// The parameter: whether transfers are collective.
class MpiTileHdf5 : public tile_test::OneRepetition, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
    use("hdf5", {{"collective", GetParam()}});
  }

  [[nodiscard]] Values tiles(int of_ranks) const {
    Values given = tiles_for(of_ranks);
    given["calls"] = words(GetParam() ? "collective" : "independent");
    return given;
  }

  void expect_whole(const Json& records, const Values& given) {
    ASSERT_EQ(status_, PhaseStatus::ok) << records.dump(1);
    const TileShape shape = tile_test::parameters_of(given).shape();
    for (const Json& record : records) {
      EXPECT_EQ(record["bytes"], shape.tiles() * shape.frames * shape.tile_bytes());
      EXPECT_EQ(record["operations"], shape.tiles() * shape.frames);
      EXPECT_EQ(record["facts"]["size_check"], "at least");
    }
    EXPECT_EQ(records[1]["verified_bytes"], records[1]["bytes"]);
    EXPECT_EQ(records[1]["bad_blocks"], 0);
    expect_nothing_left();
  }

  void use_fault(const char* kind, const char* operation, int rank) {
    use("fault", {{"inner", words("hdf5")},
                  {"inner_parameters", Map{{"collective", GetParam() ? "true" : "false"}}},
                  {"kind", words(kind)},
                  {"operation", words(operation)},
                  {"after", number(1)},
                  {"rank", number(rank)},
                  {"flip_bit", number(4321)}});
  }
};

TEST_P(MpiTileHdf5, OverlappingTilesComeBackFromAFileThatIsLittleLonger) {
  Values given = tiles(world().size());
  given["frames"] = number(3);
  std::uintmax_t found = 0;
  const Json records = run(given, [&] { found = std::filesystem::file_size(file()); });
  expect_whole(records, given);
  const std::uint64_t data = tile_test::parameters_of(given).shape().file_bytes();
  EXPECT_GT(found, data) << "the library describes the array";
  EXPECT_EQ(records[0]["counters"]["added_bytes"], found - data);
}

TEST_P(MpiTileHdf5, DepthChunksAndSurplusRanks) {
  use("hdf5", {{"collective", GetParam()}, {"chunk_bytes", number(1000)}});
  const int with_tile = std::max(1, world().size() - 1);
  Values given{{"tiles_z", number(with_tile)}, {"tile_x", number(30)},   {"tile_y", number(20)},
               {"tile_z", number(8)},          {"overlap_z", number(6)}, {"element_bytes", number(5)},
               {"frames", number(2)}};
  given["calls"] = words(GetParam() ? "collective" : "independent");
  const Json records = run(given);
  expect_whole(records, given);
  EXPECT_EQ(records[0]["facts"]["surplus_count"], world().size() - with_tile);
  EXPECT_EQ(records[0]["hints_granted"]["hdf5.layout"], "chunked");
}

TEST_P(MpiTileHdf5, FramesThatMemoryDoesNotHoldAreReadAgain) {
  Values given = tiles(world().size());
  given["frames"] = number(5);
  given["buffers"] = number(45000);
  const Json records = run(given);
  EXPECT_EQ(records[0]["facts"]["frames_in_memory"], 2);
  expect_whole(records, given);
}

TEST_P(MpiTileHdf5, PlantedCorruptionIsFoundAndNamed) {
  Values given = tiles(world().size());
  given["frames"] = number(2);
  const TileShape shape = tile_test::parameters_of(given).shape();
  const std::uint64_t at = shape.row_offset_bytes(shape.tiles() - 1, 1, 50) + 11;
  const Json records = run(given, [&] {
    if (!world().root()) return;
    const auto data = find_hdf5_data(*hdf5_library(), file(), "frames");
    ASSERT_TRUE(data.has_value()) << test::line_of(data);
    const auto place = static_cast<std::streamoff>(data->front().offset_bytes + at);
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(place);
    const char wrong = static_cast<char>(stream.get() ^ 8);
    stream.seekp(place);
    stream.put(wrong);
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_GE(records[1]["bad_blocks"].get<int>(), 1);
  const Json& failure = records[1]["failures"][0];
  EXPECT_EQ(failure["offset_bytes"], at);
  const std::string text = failure["text"];
  EXPECT_NE(text.find("(frame 1, row 50 of the tile; the offset is in the dataset)"), std::string::npos) << text;
  expect_nothing_left();
}

TEST_P(MpiTileHdf5, AFlippedBitIsFoundWhereverItHappened) {
  for (const char* operation : {"write", "read"}) {
    use_fault("flip", operation, 0);
    Values given = tiles(world().size());
    given["frames"] = number(3);
    given["overlap_x"] = number(0);  // else a neighbour may write the right byte over it
    given["overlap_y"] = number(0);
    const Json records = run(given);
    EXPECT_EQ(status_, PhaseStatus::failed) << operation;
    EXPECT_GE(records[1]["bad_blocks"].get<int>(), 1);
    expect_nothing_left();
  }
}

TEST_P(MpiTileHdf5, AnErrorOfOneRankLeavesNobodyWaiting) {
  for (const auto& [kind, errno_value] : {std::pair("enospc", ENOSPC), std::pair("eio", EIO)}) {
    use_fault(kind, "write", world().size() - 1);
    Values given = tiles(world().size());
    given["frames"] = number(5);
    const Json records = run(given);
    EXPECT_EQ(status_, PhaseStatus::failed);
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0]["failures"][0]["errno"], errno_value) << records[0]["failures"].dump(1);
    expect_nothing_left();
  }
}

TEST_P(MpiTileHdf5, AFileThatWasCutIsRefused) {
  const Json records = run(tiles(world().size()), [&] {
    if (world().root())
      std::filesystem::resize_file(file(), tile_test::parameters_of(tiles(world().size())).shape().file_bytes() - 1);
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_NE(records[1]["failures"][0]["text"].get<std::string>().find("must be at least"), std::string::npos);
  expect_nothing_left();
}

INSTANTIATE_TEST_SUITE_P(Ways, MpiTileHdf5, testing::Bool());

}  // namespace ullage::tile_hdf5_test
