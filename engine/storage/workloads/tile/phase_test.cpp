// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/tile/phase.hpp"

#include <gtest/gtest.h>

#include "storage/workloads/tile/test_support.hpp"

namespace ullage::tile_phase_test {

using tile_test::number;
using tile_test::words;

class MpiTilePhase : public tile_test::OneRepetition {};

TEST_F(MpiTilePhase, PlantedCorruptionIsFoundAndNamed) {
  for (const std::int64_t frame : {0, 4}) {  // read again, and still in memory
    Values given = tiles_for(world().size());
    given["frames"] = number(5);
    given["buffers"] = number(45000);
    const TileShape shape = tile_test::parameters_of(given).shape();
    const std::uint64_t at = shape.row_offset_bytes(shape.tiles() - 1, static_cast<std::uint64_t>(frame), 50) + 11;
    const Json records = run(given, [&] {
      if (!world().root()) return;
      std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(at));
      const char wrong = static_cast<char>(stream.get() ^ 8);
      stream.seekp(static_cast<std::streamoff>(at));
      stream.put(wrong);
    });
    EXPECT_EQ(status_, PhaseStatus::failed);
    EXPECT_GE(records[1]["bad_blocks"].get<int>(), 1);
    const Json& failure = records[1]["failures"][0];
    EXPECT_EQ(failure["offset_bytes"], at);
    EXPECT_EQ(failure["path"], file());
    EXPECT_NE(failure["text"].get<std::string>().find("frame " + std::to_string(frame)), std::string::npos) << failure;
    expect_nothing_left();
  }
}

TEST_F(MpiTilePhase, AFileOfAnotherLengthIsRefused) {
  const Json records = run(tiles_for(world().size()), [&] {
    if (world().root()) std::filesystem::resize_file(file(), std::filesystem::file_size(file()) - 1);
  });
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_NE(records[1]["failures"][0]["text"].get<std::string>().find("bytes long, must be"), std::string::npos);
  expect_nothing_left();
}

TEST_F(MpiTilePhase, WithoutVerificationNothingIsLookedAt) {
  Values given = tiles_for(world().size());
  given["verify"] = words("none");
  EXPECT_EQ(run(given)[1]["verified_bytes"], 0);
  given["verify"] = words("kept");
  given["frames"] = number(5);
  given["buffers"] = number(45000);
  const Json records = run(given);
  EXPECT_EQ(records[1]["verified_bytes"], 2 * 100 * 60 * 3 * world().size());
}

TEST_F(MpiTilePhase, OpeningAndItsViewAreApart) {
  const Json records = run(tiles_for(world().size()));
  for (const Json& record : records) {
    const auto most = [&](const char* name) { return record["gauges"][name]["most"].get<double>(); };
    EXPECT_GT(most("open_s"), 0);
    EXPECT_GT(most("view_s"), 0);
    // Not their sum: one rank may open slowly, and another set its view slowly.
    for (const char* part : {"open_s", "view_s"})
      EXPECT_LE(most(part), record["elapsed_ns"].get<double>() * 1e-9 + 1e-3) << part;
  }
  EXPECT_EQ(records[0]["facts"]["file_bytes"],
            tile_test::parameters_of(tiles_for(world().size())).shape().file_bytes());
}

}  // namespace ullage::tile_phase_test
