// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/parameters.hpp"
#include "storage/backend.hpp"

#include <gtest/gtest.h>

namespace ullage::b_eff_io_parameters_test {
namespace {

constexpr Capabilities able{.views = true};
constexpr std::uint64_t M = 1 << 20;

std::string mistake(const BEffIoParameters& parameters, const Capabilities& capabilities = able) {
  const auto status = check_b_eff_io(parameters, capabilities, "/p");
  return status ? "" : status.error().where;
}

TEST(BEffIoParameters, DefaultsAreTheDefinitions) {
  const Values values = complete(specs_of(BEffIoParameters::table()), {}, "").value();
  const auto parameters = BEffIoParameters::from(values);
  EXPECT_EQ(parameters.type, BEffIoType::scatter);
  EXPECT_EQ(parameters.rule, BEffIoRule::predicted);
  EXPECT_EQ(parameters.lmax_bytes, 2 * M);
  EXPECT_TRUE(parameters.shared_pointer);
  EXPECT_TRUE(parameters.unique_open);
  EXPECT_EQ(parameters.verify, BEffIoVerify::full);
  EXPECT_TRUE(parameters.skip.empty());
  EXPECT_EQ(mistake(parameters), "");
}

TEST(BEffIoParameters, WordsAreBound) {
  const Values given{{"type", std::string("seg_coll")},
                     {"access", std::string("rewrite")},
                     {"rule", std::string("elapsed")},
                     {"skip", std::vector<std::string>{"0", "42"}},
                     {"cache", std::string("advise")}};
  const auto parameters = BEffIoParameters::from(complete(specs_of(BEffIoParameters::table()), given, "").value());
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
  parameters.verify = BEffIoVerify::none;
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

}  // namespace
}  // namespace ullage::b_eff_io_parameters_test
