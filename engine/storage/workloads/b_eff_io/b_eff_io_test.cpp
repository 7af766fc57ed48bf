// SPDX-License-Identifier: Apache-2.0
// Whole cases of the workload over files that each rank keeps in its own memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "storage/workloads/b_eff_io/test_support.hpp"

namespace ullage::b_eff_io_test {
namespace {

using MpiBEffIo = test::BEffIoCases;

std::vector<int> from_to(int first, int last) {
  std::vector<int> numbers(static_cast<std::size_t>(last - first + 1));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

TEST_F(MpiBEffIo, EveryTypeIsWrittenRewrittenAndRead) {
  write_first_types();
  for (const auto& type : {"scatter", "shared", "separated", "segmented", "seg_coll"}) {
    const bool has_segments = std::string(type).starts_with("seg");
    const auto written = run(type, "write", has_segments ? Values{{"counts_of", std::string("h0")}} : Values{});
    ASSERT_EQ(status_, PhaseStatus::ok) << type << written.back();
    const auto rewritten = run(type, "rewrite");
    ASSERT_EQ(status_, PhaseStatus::ok) << type << rewritten.back();
    EXPECT_EQ(facts_of(type)["patterns"].begin()->at("rewritten"), facts_of(type)["patterns"].begin()->at("count"));
    const auto read = run(type, "read");
    ASSERT_EQ(status_, PhaseStatus::ok) << type << read.back();
    EXPECT_EQ(test::repetitions_of(rewritten), test::repetitions_of(written)) << type;
    EXPECT_EQ(test::repetitions_of(read), test::repetitions_of(written)) << type;
    EXPECT_EQ(test::numbers_of(read), test::numbers_of(written)) << type;
    for (const Json& record : read) {
      EXPECT_EQ(record["verified_bytes"], record["bytes"]) << type;
      EXPECT_EQ(record["bad_blocks"], 0U) << type;
    }
  }
  EXPECT_EQ(store_.closed, static_cast<int>(store_.opened.size()));
}

TEST_F(MpiBEffIo, AllPatternsOfATypeInOrder) {
  EXPECT_EQ(test::numbers_of(run("scatter", "write")), from_to(0, 8));
  EXPECT_EQ(test::numbers_of(run("shared", "write")), from_to(9, 16));
  EXPECT_EQ(test::numbers_of(run("separated", "write")), from_to(17, 24));
  const Values counts{{"counts_of", std::string("h0")}};
  EXPECT_EQ(test::numbers_of(run("segmented", "write", counts)), from_to(25, 33));
  EXPECT_EQ(test::numbers_of(run("seg_coll", "write", counts)), from_to(34, 42));
  EXPECT_EQ(test::numbers_of(run("seg_coll", "read")), from_to(34, 42));
}

TEST_F(MpiBEffIo, WhatARewriteDidNotReachIsOfTheFirstWrite) {
  for (const char* type : {"separated", "shared"}) {
    run(type, "write", test::by_room());
    store_.in_move = [&] { std::this_thread::sleep_for(std::chrono::milliseconds(1 + world_.rank())); };
    const auto rewritten = run(type, "rewrite", {{"unit_s", 0.01}, {"overtime", 1.0}});
    store_.in_move = nullptr;
    ASSERT_EQ(status_, PhaseStatus::ok) << rewritten.back();
    EXPECT_EQ(rewritten[4]["facts"]["end"], "overtime") << rewritten[4];
    EXPECT_LT(rewritten[4]["facts"]["repetitions"], rewritten[4]["facts"]["wanted"]);
    run(type, "read");
    EXPECT_EQ(status_, PhaseStatus::ok) << type;
  }
}

TEST_F(MpiBEffIo, AnErrorOfOneRankFailsTheCaseAndStrikesTheDataset) {
  for (const char* type : {"scatter", "shared", "separated"}) {
    run(type, "write");
    ASSERT_FALSE(facts_of(type).is_null());
    if (world_.rank() == world_.size() - 1) store_.fails_at = store_.moves + 3;
    const auto written = run(type, "write");
    store_.fails_at = -1;
    EXPECT_EQ(status_, PhaseStatus::failed);
    EXPECT_EQ(written.back()["failures"][0]["errno"], ENOSPC) << type;
    EXPECT_TRUE(facts_of(type).is_null());
    EXPECT_EQ(store_.closed, static_cast<int>(store_.opened.size()));
    EXPECT_TRUE(run(type, "read").empty());
    EXPECT_FALSE(begun_.has_value()) << "no such dataset";
  }
}

}  // namespace
}  // namespace ullage::b_eff_io_test
