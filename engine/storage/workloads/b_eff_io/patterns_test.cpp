// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/patterns.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace ullage::b_eff_io_patterns_test {
namespace {

constexpr std::uint64_t k = 1024;
constexpr std::uint64_t M = k * k;
constexpr std::uint64_t Lmax = 4 * M;

TEST(BEffIoPatterns, UnitsOfTheTypesMake64) {
  EXPECT_EQ(b_eff_io_units(BEffIoType::scatter), 22);
  EXPECT_EQ(b_eff_io_units(BEffIoType::shared), 12);
  EXPECT_EQ(b_eff_io_units(BEffIoType::separated), 10);
  EXPECT_EQ(b_eff_io_units(BEffIoType::segmented), 10);
  EXPECT_EQ(b_eff_io_units(BEffIoType::seg_coll), 10);
  int sum = 0;
  for (const auto& pattern : b_eff_io_patterns()) sum += pattern.units;
  EXPECT_EQ(sum, 64);
}

TEST(BEffIoPatterns, NumbersAreThoseOfTheTable) {
  ASSERT_EQ(b_eff_io_patterns().size(), 43U);
  for (int i = 0; i < 43; ++i) EXPECT_EQ(b_eff_io_patterns()[static_cast<std::size_t>(i)].number, i);
  const std::map<BEffIoType, std::pair<int, std::size_t>> first_and_count{{BEffIoType::scatter, {0, 9}},
                                                                          {BEffIoType::shared, {9, 8}},
                                                                          {BEffIoType::separated, {17, 8}},
                                                                          {BEffIoType::segmented, {25, 9}},
                                                                          {BEffIoType::seg_coll, {34, 9}}};
  for (const auto& [type, expected] : first_and_count) {
    EXPECT_EQ(b_eff_io_patterns(type).front().number, expected.first) << word_of(type);
    EXPECT_EQ(b_eff_io_patterns(type).size(), expected.second) << word_of(type);
  }
}

struct Line {
  std::uint64_t chunk = 0;
  std::uint64_t call = 0;
  int units = 0;
  int position = 0;
  bool operator==(const Line&) const = default;
};

std::vector<Line> lines(BEffIoType type) {
  std::vector<Line> found;
  for (const auto& pattern : b_eff_io_patterns(type))
    found.push_back({pattern.chunk_bytes(Lmax), pattern.call_bytes(Lmax), pattern.units, pattern.position});
  return found;
}

TEST(BEffIoPatterns, LinesOfTheTable) {
  EXPECT_EQ(lines(BEffIoType::scatter), (std::vector<Line>{{M, M, 0, 0},
                                                           {Lmax, Lmax, 4, 7},
                                                           {M, 2 * M, 4, 8},
                                                           {M, M, 4, 5},
                                                           {32 * k, M, 2, 3},
                                                           {k, M, 2, 1},
                                                           {32 * k + 8, M + 256, 2, 4},
                                                           {k + 8, M + 8 * k, 2, 2},
                                                           {M + 8, M + 8, 2, 6}}));
  EXPECT_EQ(lines(BEffIoType::shared), (std::vector<Line>{{M, M, 0, 0},
                                                          {Lmax, Lmax, 4, 7},
                                                          {M, M, 2, 5},
                                                          {32 * k, 32 * k, 1, 3},
                                                          {k, k, 1, 1},
                                                          {32 * k + 8, 32 * k + 8, 1, 4},
                                                          {k + 8, k + 8, 1, 2},
                                                          {M + 8, M + 8, 2, 6}}));
  std::vector<Line> alone{{M, M, 0, 0},           {Lmax, Lmax, 2, 7},  {M, M, 2, 5},
                          {32 * k, 32 * k, 1, 3}, {k, k, 1, 1},        {32 * k + 8, 32 * k + 8, 1, 4},
                          {k + 8, k + 8, 1, 2},   {M + 8, M + 8, 2, 6}};
  EXPECT_EQ(lines(BEffIoType::separated), alone);
  alone.push_back({0, 0, 0, 0});
  EXPECT_EQ(lines(BEffIoType::segmented), alone);
  EXPECT_EQ(lines(BEffIoType::seg_coll), alone);
}

TEST(BEffIoPatterns, CallsOfScatterMoveSoManyChunks) {
  std::vector<std::uint64_t> chunks;
  for (const auto& pattern : b_eff_io_patterns(BEffIoType::scatter))
    chunks.push_back(pattern.call_bytes(Lmax) / pattern.chunk_bytes(Lmax));
  EXPECT_EQ(chunks, (std::vector<std::uint64_t>{1, 1, 2, 1, 32, 1024, 32, 1024, 1}));
}

TEST(BEffIoPatterns, EverySizeIsAMultipleOfAnElement) {
  for (const auto& pattern : b_eff_io_patterns()) {
    EXPECT_EQ(pattern.chunk_bytes(Lmax) % 8, 0U) << pattern.number;
    EXPECT_EQ(pattern.call_bytes(Lmax) % 8, 0U) << pattern.number;
  }
}

TEST(BEffIoPatterns, WordsForPeople) {
  EXPECT_EQ(b_eff_io_patterns()[3].phase_name(), "pattern-03");
  EXPECT_EQ(b_eff_io_patterns()[42].phase_name(), "pattern-42");
  EXPECT_EQ(word_of(b_eff_io_patterns()[2].size), "2M calls");
  EXPECT_EQ(word_of(b_eff_io_patterns()[33].size), "fill-up");
  EXPECT_EQ(word_of(BEffIoType::seg_coll), "seg_coll");
  EXPECT_EQ(word_of(BEffIoAccess::rewrite), "rewrite");
}

TEST(BEffIoPatterns, HintsAreNamedByTheChunk) {
  const auto chunk_of = [](std::size_t number) { return b_eff_io_patterns()[number].hint_chunk(); };
  EXPECT_EQ(chunk_of(0), "1048576");
  EXPECT_EQ(chunk_of(1), "Lmax");
  EXPECT_EQ(chunk_of(2), "1048576");
  EXPECT_EQ(chunk_of(5), "1024");
  EXPECT_EQ(chunk_of(6), "32776");
  EXPECT_EQ(chunk_of(7), "1032");
  EXPECT_EQ(chunk_of(8), "1048584");
  EXPECT_EQ(chunk_of(33), "1048576");
}

TEST(BEffIoPatterns, FoundByTypeAndSize) {
  EXPECT_EQ(b_eff_io_pattern(BEffIoType::shared, BEffIoSize::kib1)->number, 13);
  EXPECT_EQ(b_eff_io_pattern(BEffIoType::seg_coll, BEffIoSize::fill_up)->number, 42);
  EXPECT_FALSE(b_eff_io_pattern(BEffIoType::shared, BEffIoSize::mib_by_two).has_value());
  EXPECT_FALSE(b_eff_io_pattern(BEffIoType::separated, BEffIoSize::fill_up).has_value());
}

}  // namespace
}  // namespace ullage::b_eff_io_patterns_test
