// SPDX-License-Identifier: Apache-2.0
// Whole cases of the workload over files that each rank keeps in its own memory.
#include <gtest/gtest.h>

#include <numeric>

#include "storage/workloads/b_eff_io/b_eff_io.hpp"
#include "storage/workloads/b_eff_io/test_support.hpp"

namespace ullage::b_eff_io_test {

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

constexpr Capabilities able{.views = true};
constexpr std::uint64_t M = 1 << 20;

std::string mistake(const BEffIoParameters& parameters, const Capabilities& capabilities = able) {
  const auto status = check_b_eff_io(parameters, capabilities, "/p");
  return status ? "" : status.error().where;
}

TEST(BEffIoParameters, DefaultsAreTheDefinitions) {
  const Values values = complete(specs_of(BEffIoParameters::table()), {}, "").value();
  const auto parameters = bind_parameters<BEffIoParameters>(values);
  EXPECT_EQ(parameters.type, BEffIoType::scatter);
  EXPECT_EQ(parameters.rule, BEffIoRule::predicted);
  EXPECT_EQ(parameters.lmax_bytes, 2 * M);
  EXPECT_TRUE(parameters.shared_pointer);
  EXPECT_TRUE(parameters.unique_open);
  EXPECT_EQ(parameters.verify, Verify::full);
  EXPECT_TRUE(parameters.skip.empty());
  EXPECT_EQ(mistake(parameters), "");
}

TEST(BEffIoParameters, WordsAreBound) {
  const Values given{{"type", std::string("seg_coll")},
                     {"access", std::string("rewrite")},
                     {"rule", std::string("elapsed")},
                     {"skip", std::vector<std::string>{"0", "42"}},
                     {"cache", std::string("advise")}};
  const auto parameters =
      bind_parameters<BEffIoParameters>(complete(specs_of(BEffIoParameters::table()), given, "").value());
  EXPECT_EQ(parameters.type, BEffIoType::seg_coll);
  EXPECT_EQ(parameters.access, BEffIoAccess::rewrite);
  EXPECT_EQ(parameters.rule, BEffIoRule::elapsed);
  EXPECT_TRUE(parameters.skips(0));
  EXPECT_TRUE(parameters.skips(42));
  EXPECT_FALSE(parameters.skips(4));
  EXPECT_EQ(word_of(parameters.cache), "advise");
}

TEST(BEffIoParameters, OnlyFirstWritesOfTypes0To2AreTimeDriven) {
  BEffIoParameters parameters;
  EXPECT_TRUE(parameters.is_time_driven());
  parameters.type = BEffIoType::segmented;
  EXPECT_FALSE(parameters.is_time_driven());
  parameters.type = BEffIoType::shared;
  parameters.access = BEffIoAccess::rewrite;
  EXPECT_FALSE(parameters.is_time_driven());
  EXPECT_TRUE(parameters.writes());
}

TEST(BEffIoParameters, HintsOfAChunkWithoutItsName) {
  BEffIoParameters parameters;
  parameters.hints = {
      {"on_open/cb_nodes", "2"}, {"1024/cb_buffer_size", "65536"}, {"1024/striping/x", "1"}, {"Lmax/cb_nodes", "4"}};
  EXPECT_EQ(mistake(parameters), "");
  EXPECT_EQ(parameters.hints_of("1024"), (Map{{"cb_buffer_size", "65536"}, {"striping/x", "1"}}));
  EXPECT_EQ(parameters.hints_of("on_open"), (Map{{"cb_nodes", "2"}}));
  EXPECT_EQ(parameters.hints_of("1032"), Map{});
}

TEST(BEffIoParameters, MistakesAreFoundWithTheirPointer) {
  BEffIoParameters parameters;
  EXPECT_EQ(mistake(parameters, {}), "/p") << "no views";
  parameters.lmax_bytes = 2 * M + 4;
  EXPECT_EQ(mistake(parameters), "/p/lmax_bytes");
  parameters = {};
  parameters.hints = {{"1000/cb_nodes", "2"}};
  EXPECT_EQ(mistake(parameters), "/p/hints/1000~1cb_nodes");
  parameters.hints = {{"cb_nodes", "2"}};
  EXPECT_EQ(mistake(parameters), "/p/hints/cb_nodes");
  parameters.hints = {{"Lmax/", "2"}};
  EXPECT_EQ(mistake(parameters), "/p/hints/Lmax~1");
  parameters = {};
  parameters.counts_of = "h0-n2";
  EXPECT_EQ(mistake(parameters), "/p/counts_of");
  parameters.type = BEffIoType::segmented;
  EXPECT_EQ(mistake(parameters), "");
  parameters.access = BEffIoAccess::read;
  EXPECT_EQ(mistake(parameters), "/p/counts_of");
  parameters.counts_of = "";
  EXPECT_EQ(mistake(parameters), "");
  parameters.access = BEffIoAccess::write;
  EXPECT_EQ(mistake(parameters), "/p/counts_of");
}

TEST(BEffIoParameters, AFirstWriteHasAPatternToDo) {
  BEffIoParameters parameters;
  parameters.type = BEffIoType::shared;
  for (int number = 9; number <= 16; ++number) parameters.skip.push_back(number);
  EXPECT_EQ(mistake(parameters), "/p/skip");
  parameters.access = BEffIoAccess::read;
  EXPECT_EQ(mistake(parameters), "") << "what was not written is not read";
}

TEST(BEffIoParameters, WhatHoldsNoDataCannotBeVerified) {
  BEffIoParameters parameters;
  constexpr Capabilities no_data{.data = false, .views = true};
  EXPECT_EQ(mistake(parameters, no_data), "") << "nothing is read";
  parameters.access = BEffIoAccess::read;
  EXPECT_EQ(mistake(parameters, no_data), "/p/verify");
  parameters.verify = Verify::none;
  EXPECT_EQ(mistake(parameters, no_data), "");
}

TEST(BEffIoParameters, OnlyAFirstWriteTakesRoom) {
  BEffIoParameters parameters;
  parameters.most_bytes = 44 * M;
  const PlannedLayout layout{.ranks = 3, .nodes = {}, .ranks_per_node = {}};
  EXPECT_GE(needs_of_b_eff_io(parameters, layout).bytes, 44 * M);
  EXPECT_EQ(needs_of_b_eff_io(parameters, layout).inodes, 1U);
  parameters.type = BEffIoType::separated;
  EXPECT_EQ(needs_of_b_eff_io(parameters, layout).inodes, 3U);
  EXPECT_EQ(needs_of_b_eff_io(parameters, layout).directories, 1U);
  parameters.access = BEffIoAccess::read;
  EXPECT_EQ(needs_of_b_eff_io(parameters, layout).bytes, 0U);
  EXPECT_EQ(needs_of_b_eff_io(parameters, layout).inodes, 0U);
  EXPECT_EQ(needs_of_b_eff_io(parameters, layout).directories, 0U);
}

}  // namespace ullage::b_eff_io_test
