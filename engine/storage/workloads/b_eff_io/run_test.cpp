// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/workloads/b_eff_io/run.hpp"
#include "storage/workloads/b_eff_io/test_support.hpp"

namespace ullage::b_eff_io_run_test {

using MpiBEffIoRun = test::BEffIoCases;

TEST_F(MpiBEffIoRun, SegmentsFollowFromWhatTheOthersDid) {
  for (const char* type : {"scatter", "shared", "separated"}) run(type, "write", test::by_room());
  const auto count_of = [&](const char* type, const char* number) {
    return facts_of(type)["patterns"][number]["count"].get<std::uint64_t>();
  };
  const auto written = run("segmented", "write", {{"counts_of", std::string("h0")}, {"most_bytes", 12 * test::mib}});
  const Json facts = facts_of("segmented");
  EXPECT_EQ(facts["patterns"]["26"]["count"],
            std::min({count_of("scatter", "1"), 10 * count_of("shared", "10"), count_of("separated", "18")}));
  EXPECT_EQ(facts["patterns"]["29"]["count"],
            std::min({1024 * count_of("scatter", "5"), 10 * count_of("shared", "13"), count_of("separated", "21")}));
  std::uint64_t taken = 0;
  for (const Json& record : written) {
    EXPECT_EQ(record["facts"]["displacement_bytes"], taken);
    EXPECT_EQ(record["facts"]["segment_bytes"], facts["segment_bytes"]);
    taken += record["bytes"].get<std::uint64_t>() / ranks();
  }
  EXPECT_EQ(taken, facts["segment_bytes"]) << "filled up";
  EXPECT_EQ(taken % test::mib, 0U);
  EXPECT_EQ(written.back()["facts"]["size"], "fill-up");
  EXPECT_EQ(written.back()["facts"]["end"], "once");
  EXPECT_EQ(written[3]["facts"]["end"], "count");
}

TEST_F(MpiBEffIoRun, SegmentsOfNothingAreRefused) {
  EXPECT_TRUE(run("segmented", "write", {{"counts_of", std::string("h7")}}).empty());
  ASSERT_FALSE(begun_.has_value());
  EXPECT_NE(to_line(begun_.error()).find("h7-scatter"), std::string::npos) << to_line(begun_.error());
}

TEST_F(MpiBEffIoRun, SkippedPatternsHaveNoPhaseAndNoPlaceButInSegments) {
  const Value skip = std::vector<std::string>{"1", "11", "18", "25", "27"};
  for (const char* type : {"scatter", "shared", "separated"}) run(type, "write", {{"skip", skip}});
  EXPECT_FALSE(facts_of("scatter")["patterns"].contains("1"));
  const auto written = run("segmented", "write", {{"counts_of", std::string("h0")}, {"skip", skip}});
  EXPECT_EQ(test::numbers_of(written), (std::vector<int>{26, 28, 29, 30, 31, 32, 33}));
  EXPECT_EQ(written[0]["facts"]["displacement_bytes"], test::mib) << "room of the first pattern";
  run("segmented", "read");
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_EQ(test::numbers_of(run("shared", "read", {{"skip", std::vector<std::string>{"9", "13"}}})),
            (std::vector<int>{10, 12, 14, 15, 16}));
  EXPECT_EQ(status_, PhaseStatus::ok);
}

TEST_F(MpiBEffIoRun, WithoutASharedPointerItsViewsAreThoseOfScatter) {
  const Values without{{"shared_pointer", false}};
  const auto written = run("shared", "write", without);
  EXPECT_EQ(store_.views.size(), 8U);
  EXPECT_EQ(store_.views[4].chunk_bytes, 1024U);
  EXPECT_FALSE(written[4]["facts"]["shared_pointer"]);
  run("shared", "read", without);
  EXPECT_EQ(status_, PhaseStatus::ok);
}

TEST_F(MpiBEffIoRun, ViewsAreSetOnceButForScatter) {
  run("scatter", "write");
  EXPECT_EQ(store_.views.size(), 9U);
  store_.views.clear();
  const auto written = run("shared", "write");
  EXPECT_EQ(store_.views.size(), 1U);
  EXPECT_TRUE(written[4]["facts"]["shared_pointer"]);
}

TEST_F(MpiBEffIoRun, HintsAreGivenWhereTheyBelong) {
  const Map hints{{"on_open/cb_nodes", "2"}, {"1048576/cb_buffer_size", "1"}, {"1024/cb_buffer_size", "2"}};
  const auto written = run("shared", "write", {{"hints", hints}});
  EXPECT_EQ(store_.open_hints.front(), (Map{{"cb_nodes", "2"}}));
  // set_view of the first pattern, then patterns 11 (1M) and 13 (1k)
  EXPECT_EQ(store_.hints,
            (std::vector<Map>{{{"cb_buffer_size", "1"}}, {{"cb_buffer_size", "1"}}, {{"cb_buffer_size", "2"}}}));
  EXPECT_EQ(written[4]["hints_given"], Json({{"cb_buffer_size", "2"}, {"cb_nodes", "2"}, {"romio_cb_read", "enable"}}));
  EXPECT_EQ(written[4]["hints_granted"], Json({{"cb_buffer_size", "2"}}));
}

TEST_F(MpiBEffIoRun, OpensSayWhatTheyAreFor) {
  run("separated", "write");
  run("separated", "rewrite", {{"unique_open", false}});
  run("separated", "read");
  ASSERT_EQ(store_.opened.size(), 3U);
  EXPECT_EQ(store_.opened[0].mode, OpenMode::create);
  EXPECT_EQ(store_.opened[1].mode, OpenMode::overwrite);
  EXPECT_EQ(store_.opened[2].mode, OpenMode::read);
  EXPECT_FALSE(store_.opened[0].shared);
  EXPECT_TRUE(store_.opened[0].unique);
  EXPECT_FALSE(store_.opened[1].unique);
  EXPECT_EQ(store_.opened[0].name, "h0-separated/data.0000000" + std::to_string(world_.rank()));
  run("scatter", "write");
  EXPECT_TRUE(store_.opened[3].shared);
}

TEST_F(MpiBEffIoRun, AnotherLayoutIsRefused) {
  run("scatter", "write");
  run("scatter", "read", {{"lmax_bytes", 32768}});
  ASSERT_FALSE(begun_.has_value());
  EXPECT_NE(to_line(begun_.error()).find("was made as"), std::string::npos);
}

BEffIoFileShape shape(BEffIoType type, std::uint64_t rank) {
  BEffIoFileShape shape;
  shape.type = type;
  shape.ranks = 3;
  shape.rank = rank;
  if (is_segmented(type)) shape.segment_bytes = 1 << 20;
  return shape;
}

TEST(BEffIoPlace, ScatteredChunksOfTheRanksAlternate) {
  const BEffIoPlace place{shape(BEffIoType::scatter, 1), 1000, 8, 32};
  EXPECT_EQ(place.offset_bytes(0), 1000U + 8);
  EXPECT_EQ(place.offset_bytes(0, 7), 1000U + 15);
  EXPECT_EQ(place.offset_bytes(0, 8), 1000U + 24 + 8);
  EXPECT_EQ(place.offset_bytes(1), 1000U + 4 * 24 + 8);
  EXPECT_EQ(place.extent_bytes(2), 2U * 3 * 32);
  const FileView view = place.view();
  EXPECT_EQ(view.displacement_bytes, 1000U);
  EXPECT_EQ(view.chunk_bytes, 8U);
  EXPECT_EQ(view.part, 1);
  EXPECT_EQ(view.parts, 3);
  EXPECT_EQ(place.shape.pointer(), Pointer::together);
}

TEST(BEffIoPlace, CallsBySharedPointerLieInTheOrderOfRanks) {
  BEffIoPlace place{shape(BEffIoType::shared, 2), 96, 32, 32};
  EXPECT_EQ(place.offset_bytes(0), 96U + 64);
  EXPECT_EQ(place.offset_bytes(4, 3), 96U + 4 * 96 + 64 + 3);
  EXPECT_EQ(place.view().chunk_bytes, 0U);
  EXPECT_EQ(place.view().displacement_bytes, 96U) << "the same for all ranks";
  EXPECT_EQ(place.shape.pointer(), Pointer::ordered);
  const std::uint64_t with_pointer = place.offset_bytes(4, 3);
  place.shape.shared_pointer = false;
  EXPECT_EQ(place.offset_bytes(4, 3), with_pointer);
  EXPECT_EQ(place.view().chunk_bytes, 32U);
  EXPECT_EQ(place.view().part, 2);
  EXPECT_EQ(place.shape.pointer(), Pointer::together);
}

TEST(BEffIoPlace, SeparatedCallsFollowEachOtherInTheRanksOwnFile) {
  const BEffIoPlace place{shape(BEffIoType::separated, 2), 64, 16, 16};
  EXPECT_EQ(place.offset_bytes(3, 1), 64U + 48 + 1);
  EXPECT_EQ(place.extent_bytes(3), 48U);
  EXPECT_EQ(place.view().displacement_bytes, 64U);
  EXPECT_EQ(place.view().parts, 1);
  EXPECT_EQ(place.shape.pointer(), Pointer::individual);
}

TEST(BEffIoPlace, SegmentsFollowEachOther) {
  const BEffIoPlace place{shape(BEffIoType::segmented, 2), 64, 16, 16};
  EXPECT_EQ(place.offset_bytes(3, 1), (2U << 20) + 64 + 48 + 1);
  EXPECT_EQ(place.extent_bytes(3), 48U);
  EXPECT_EQ(place.view().displacement_bytes, (2U << 20) + 64);
  EXPECT_EQ(place.shape.pointer(), Pointer::individual);
  EXPECT_EQ(shape(BEffIoType::seg_coll, 0).pointer(), Pointer::together);
}

}  // namespace ullage::b_eff_io_run_test
