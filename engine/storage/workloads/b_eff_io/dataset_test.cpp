// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/dataset.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "storage/dataset_facts.hpp"

namespace ullage::b_eff_io_dataset_test {
namespace {

constexpr std::uint64_t M = 1 << 20;

BEffIoDataset dataset_of(std::map<int, BEffIoMade> patterns) { return {~std::uint64_t{0}, 5 * M, std::move(patterns)}; }

BEffIoParameters segmented(const std::string& counts_of) {
  BEffIoParameters parameters;
  parameters.type = BEffIoType::segmented;
  parameters.counts_of = counts_of;
  return parameters;
}

void enter(DatasetFacts& book, BEffIoType type, int ranks, std::map<int, BEffIoMade> patterns) {
  BEffIoParameters made;
  made.type = type;
  const Json facts = dataset_of(std::move(patterns)).facts(b_eff_io_layout(made, ranks));
  EXPECT_TRUE(book.enter("h0-n2-" + word_of(type), facts).has_value());
}

TEST(BEffIoDataset, FactsComeBackAsTheyWere) {
  BEffIoParameters parameters;
  parameters.type = BEffIoType::shared;
  const Json layout = b_eff_io_layout(parameters, 4);
  EXPECT_EQ(layout, Json({{"ranks", 4}, {"type", "shared"}, {"lmax_bytes", 2 * M}, {"shared_pointer", true}}));
  const BEffIoDataset made = dataset_of({{9, {1, 0, 1, 1}}, {13, {77, 4 * M, 20, 25}}});
  const Json facts = Json::parse(made.facts(layout).dump());
  EXPECT_EQ(facts["workload"], "b-eff-io");
  EXPECT_EQ(facts["layout"], layout);
  EXPECT_EQ(facts["patterns"]["13"]["count"], 77);
  EXPECT_EQ(facts["patterns"]["13"]["rewritten"], 20);
  const BEffIoDataset again = BEffIoDataset::from(facts);
  EXPECT_EQ(again.key, made.key);
  EXPECT_EQ(again.segment_bytes, made.segment_bytes);
  EXPECT_EQ(again.patterns, made.patterns);
}

TEST(BEffIoDataset, OnlyTypeSharedHasASharedPointer) {
  EXPECT_FALSE(b_eff_io_layout({}, 4)["shared_pointer"]);
  BEffIoParameters parameters;
  parameters.type = BEffIoType::shared;
  parameters.shared_pointer = false;
  EXPECT_FALSE(b_eff_io_layout(parameters, 4)["shared_pointer"]);
}

TEST(BEffIoDataset, AFillUpEndsWhereTheSegmentDoes) {
  EXPECT_EQ(b_eff_io_call_bytes(b_eff_io_patterns()[33], 2 * M, 5 * M - 24, 5 * M), 24U);
  EXPECT_EQ(b_eff_io_call_bytes(b_eff_io_patterns()[29], 2 * M, 4 * M, 5 * M), 1024U);
}

TEST(BEffIoDataset, CountsOfFirstWritesAreThoseOfTheirPatterns) {
  DatasetFacts book;
  enter(book, BEffIoType::scatter, 2, {{1, {3, 0, 0, 0}}, {2, {99, 0, 0, 0}}, {5, {7, 0, 0, 0}}});
  enter(book, BEffIoType::separated, 2, {{18, {4, 0, 0, 0}}});
  const auto made = b_eff_io_first_writes(book, segmented("h0-n2"), 2);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ(made->scatter->at(BEffIoSize::lmax), 3U);
  EXPECT_EQ(made->scatter->at(BEffIoSize::kib1), 7U);
  EXPECT_FALSE(made->scatter->contains(BEffIoSize::mib)) << "pattern 3 was skipped, 2 is not it";
  EXPECT_FALSE(made->shared.has_value());
  EXPECT_EQ(made->separated->at(BEffIoSize::lmax), 4U);
}

TEST(BEffIoDataset, CountsOfNothingOrOfOtherRanksAreErrors) {
  DatasetFacts book;
  EXPECT_FALSE(b_eff_io_first_writes(book, segmented("h0-n2"), 2).has_value());
  enter(book, BEffIoType::shared, 3, {{10, {3, 0, 0, 0}}});
  const auto made = b_eff_io_first_writes(book, segmented("h0-n2"), 2);
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().text.find("was made as"), std::string::npos) << made.error().text;
}

}  // namespace
}  // namespace ullage::b_eff_io_dataset_test
