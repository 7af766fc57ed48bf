// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/workloads/b_eff_io/test_support.hpp"

namespace ullage::b_eff_io_phase_test {

using MpiBEffIoPhase = test::BEffIoCases;

TEST_F(MpiBEffIoPhase, FactsSayWhatWasDone) {
  const auto written = run("scatter", "write", test::by_room());
  const Json& facts = written[5]["facts"];
  EXPECT_EQ(written[5]["phase"], "pattern-05");
  EXPECT_EQ(facts["size"], "1k");
  EXPECT_EQ(facts["chunk_bytes"], 1024);
  EXPECT_EQ(facts["call_bytes"], test::mib);
  EXPECT_EQ(facts["units"], 2);
  EXPECT_EQ(facts["position"], 1);
  EXPECT_DOUBLE_EQ(facts["scheduled_s"], 2000);
  EXPECT_EQ(facts["wanted"], nullptr);
  EXPECT_EQ(facts["end"], "space");
  const std::uint64_t part = 12 * test::mib / 22 * 2;
  EXPECT_EQ(facts["repetitions"], std::max<std::uint64_t>(1, part / (test::mib * ranks())));
  EXPECT_FALSE(facts["shared_pointer"]);
  EXPECT_EQ(facts["verify"], "full");
  EXPECT_FALSE(facts.contains("segment_bytes"));
  const Json& first = written[0]["facts"];
  EXPECT_EQ(first["end"], "once");
  EXPECT_EQ(first["wanted"], 1);
  EXPECT_EQ(first["position"], nullptr);
  std::uint64_t displacement = 0;
  for (const Json& record : written) {
    EXPECT_EQ(record["facts"]["displacement_bytes"], displacement);
    displacement += record["bytes"].get<std::uint64_t>();
  }
}

TEST_F(MpiBEffIoPhase, GaugesAddUpToThePattern) {
  const auto written = run("shared", "write");
  for (const Json& record : written) {
    const Json& gauges = record["gauges"];
    const auto sum = [&](const char* name) { return gauges[name]["sum"].get<double>(); };
    EXPECT_NEAR(sum("pattern_s"), sum("calls_s") + sum("barrier_s") + sum("agree_s") + sum("sync_s"), 1e-9);
    EXPECT_EQ(sum("open_s") > 0, record["phase"] == "pattern-09");
    EXPECT_EQ(sum("close_s") > 0, record["phase"] == "pattern-16");
    EXPECT_GT(sum("sync_s"), 0);
  }
  EXPECT_EQ(store_.syncs, 8);
  EXPECT_EQ(store_.opened.size(), 1U);
  const auto read = run("shared", "read");
  EXPECT_EQ(read[3]["gauges"]["sync_s"]["most"], 0);
  EXPECT_EQ(store_.syncs, 8);
}

TEST_F(MpiBEffIoPhase, OneBadElementIsFoundWithItsPlace) {
  run("separated", "write", test::by_room());
  const std::string name = "h0-separated/data.0000000" + std::to_string(world_.rank());
  const Json pattern = facts_of("separated")["patterns"]["21"];
  ASSERT_GT(pattern["count"], 5);
  const std::uint64_t at = pattern["displacement_bytes"].get<std::uint64_t>() + 5 * 1024 + 520;
  if (world_.root()) store_.files[name][at] ^= std::byte{1};
  const auto read = run("separated", "read");
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_EQ(read.back()["phase"], "pattern-21");
  EXPECT_EQ(read.back()["bad_blocks"], 1);
  const Json& failure = read.back()["failures"][0];
  EXPECT_EQ(failure["offset_bytes"], at);
  EXPECT_EQ(failure["path"], "h0-separated/data.00000000");
  EXPECT_NE(failure["text"].get<std::string>().find("(pattern 21, call 5)"), std::string::npos) << failure;
}

TEST_F(MpiBEffIoPhase, CacheIsControlledOnceBeforeReading) {
  run("separated", "write", {{"cache", std::string("advise")}});
  EXPECT_EQ(drops(), 0);
  const auto read = run("separated", "read", {{"cache", std::string("advise")}});
  EXPECT_EQ(drops(), 1);
  EXPECT_EQ(read[4]["cache_control"], "advise");
  EXPECT_EQ(read[4]["data_of"], "own");
}

TEST_F(MpiBEffIoPhase, WithoutVerificationNothingIsLookedAt) {
  run("separated", "write");
  for (auto& [name, data] : store_.files) std::ranges::fill(data, std::byte{0});
  const auto read = run("separated", "read", {{"verify", std::string("none")}});
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_EQ(read[3]["verified_bytes"], 0);
  EXPECT_EQ(read[3]["facts"]["verify"], "none");
}

}  // namespace ullage::b_eff_io_phase_test
