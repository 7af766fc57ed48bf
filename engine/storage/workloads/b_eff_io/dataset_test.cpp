// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/dataset.hpp"

#include <gtest/gtest.h>

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

namespace ullage::b_eff_io_segment_test {
namespace {

constexpr std::uint64_t k = 1024;
constexpr std::uint64_t M = k * k;

BEffIoCounts counts(const std::array<std::uint64_t, 7>& values) {
  BEffIoCounts counts;
  for (std::size_t i = 0; i < values.size(); ++i) counts[b_eff_io_counted_sizes[i]] = values[i];
  return counts;
}

TEST(BEffIoSegment, LeastOfTheThreeTypesInBytesOfAChunk) {
  // Lmax, 1M, 32k, 1k, 32k+8, 1k+8, 1M+8
  const BEffIoFirstWrites made{counts({9, 9, 2, 1, 3, 2, 9}), counts({1, 9, 9, 300, 9, 9, 9}),
                               counts({40, 7, 99, 5000, 80, 3000, 5})};
  const BEffIoSegment segment = b_eff_io_segment(2 * M, made, {});
  const BEffIoCounts expected = counts({9, 7, 64, 1024, 80, 90, 5});
  for (const auto& [size, count] : expected) EXPECT_EQ(segment.counts.at(size), count) << word_of(size);
  EXPECT_EQ(segment.counts.at(BEffIoSize::first), 1U);
  const std::uint64_t taken =
      M + 9 * 2 * M + 7 * M + 64 * 32 * k + 1024 * k + 80 * (32 * k + 8) + 90 * (k + 8) + 5 * (M + 8);
  EXPECT_EQ(segment.bytes, 37 * M);
  EXPECT_EQ(segment.fill_up_bytes, 37 * M - taken);
  EXPECT_EQ(segment.counts.at(BEffIoSize::fill_up), 1U);
}

TEST(BEffIoSegment, NoFillUpWhereNothingIsLeft) {
  const BEffIoFirstWrites made{counts({1, 2, 1, 1, 0, 0, 0}), counts({1, 1, 9, 900, 0, 0, 0}),
                               counts({3, 2, 32, 1024, 0, 0, 0})};
  const BEffIoSegment segment = b_eff_io_segment(2 * M, made, {});
  EXPECT_EQ(segment.bytes, (1 + 2 + 2 + 1 + 1) * M);
  EXPECT_EQ(segment.fill_up_bytes, 0U);
  EXPECT_EQ(segment.counts.at(BEffIoSize::fill_up), 0U);
}

TEST(BEffIoSegment, WhatIsMissingIsLeftOutOfTheLeast) {
  BEffIoFirstWrites made;
  EXPECT_FALSE(made.any());
  made.shared = counts({1, 2, 3, 4, 5, 6, 7});
  made.shared->erase(BEffIoSize::kib1);
  EXPECT_TRUE(made.any());
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::lmax), 10U);
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::kib1), 0U) << "nobody did that size";
  made.separated = counts({3, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::lmax), 3U);
  EXPECT_EQ(b_eff_io_segment(2 * M, made, {}).counts.at(BEffIoSize::kib1), 4U);
}

TEST(BEffIoSegment, RoomLimitsIt) {
  BEffIoFirstWrites made;
  made.shared = counts({1, 1, 1, 1, 1, 1, 1});
  const BEffIoSegment segment = b_eff_io_segment(2 * M, made, {{BEffIoSize::lmax, 4}, {BEffIoSize::mib, 40}});
  EXPECT_EQ(segment.counts.at(BEffIoSize::lmax), 4U);
  EXPECT_EQ(segment.counts.at(BEffIoSize::mib), 10U);
}

}  // namespace
}  // namespace ullage::b_eff_io_segment_test
