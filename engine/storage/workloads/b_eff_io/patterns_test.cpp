// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/patterns.hpp"

#include <gtest/gtest.h>

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

namespace ullage::b_eff_io_schedule_test {
namespace {

constexpr std::uint64_t M = 1 << 20;
constexpr std::uint64_t G = 1 << 30;

TEST(BEffIoRule, PredictedWantsTheNextRepetitionToEndInTime) {
  EXPECT_TRUE(b_eff_io_goes_on(BEffIoRule::predicted, 1, 1, 2)) << "twice 1 s is 2 s";
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::predicted, 1.01, 1, 2));
  EXPECT_TRUE(b_eff_io_goes_on(BEffIoRule::predicted, 9, 9, 10));
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::predicted, 9.1, 9, 10));
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::predicted, 0.1, 1, 0));
}

TEST(BEffIoRule, ElapsedAsksForNoMoreThanTimeLeft) {
  EXPECT_TRUE(b_eff_io_goes_on(BEffIoRule::elapsed, 1.99, 1, 2));
  EXPECT_FALSE(b_eff_io_goes_on(BEffIoRule::elapsed, 2, 1, 2));
}

TEST(BEffIoRoom, PartsGoByUnits) {
  const auto calls = [](std::size_t number, std::uint64_t ranks) {
    return b_eff_io_most_calls(b_eff_io_patterns()[number], 2 * M, ranks, 44 * M);
  };
  EXPECT_EQ(calls(0, 1), 1U) << "done once";
  EXPECT_EQ(calls(1, 1), 4U) << "4 of 22 units of 44 MiB in calls of 2 MiB";
  EXPECT_EQ(calls(1, 2), 2U);
  EXPECT_EQ(calls(1, 100), 1U) << "one at least";
  EXPECT_EQ(calls(5, 1), 4U);
}

TEST(BEffIoRoom, NeededIsWhatCanBeWritten) {
  EXPECT_EQ(b_eff_io_needed_bytes(BEffIoType::scatter, 2 * M, 1, 44 * M), 45 * M) << "and the first call";
  EXPECT_GE(b_eff_io_needed_bytes(BEffIoType::scatter, G, 4, 44 * M), 4 * G) << "one call of each rank at least";
  EXPECT_EQ(b_eff_io_needed_bytes(BEffIoType::segmented, 2 * M, 2, 40 * M), 40 * M + 2 * 2 * M);
  for (const auto& [type, word] : words_of(BEffIoType{})) {
    std::uint64_t written = 0;
    for (const auto& pattern : b_eff_io_patterns(type))
      written += b_eff_io_most_calls(pattern, 16 * M, 7, G) * 7 * pattern.call_bytes(16 * M);
    EXPECT_LE(written, b_eff_io_needed_bytes(type, 16 * M, 7, G)) << word;
  }
}

TEST(BEffIoCheckTimes, ComeAboutTwentyTimesAnAllowance) {
  const BEffIoCheckTimes looks(2);
  std::uint64_t done = BEffIoCheckTimes::first();
  int count = 0;
  constexpr double a_call_s = 1e-5;
  while (!looks.is_over(static_cast<double>(done) * a_call_s)) {
    done = looks.next(done, static_cast<double>(done) * a_call_s);
    ++count;
  }
  EXPECT_LT(count, 40);
  EXPECT_GT(count, 20);
  EXPECT_LT(static_cast<double>(done) * a_call_s, 2.2);
}

TEST(BEffIoCheckTimes, AreAtEveryCallWhereCallsAreSlow) {
  const BEffIoCheckTimes looks(2);
  EXPECT_EQ(looks.next(1, 3), 2U);
  EXPECT_EQ(looks.next(10, 30), 11U);
  EXPECT_TRUE(looks.is_over(2));
  EXPECT_EQ(looks.next(8, 0), 16U) << "no more than doubled";
}

TEST(BEffIoCheckTimes, WithoutAnAllowanceTheyOnlyListenForRequestsToStop) {
  const BEffIoCheckTimes looks(std::numeric_limits<double>::infinity());
  EXPECT_FALSE(looks.is_over(1e9));
  EXPECT_EQ(looks.next(1000, 10), 1050U) << "each half second";
  const BEffIoCheckTimes none_left(-1);
  EXPECT_TRUE(none_left.is_over(0));
  EXPECT_EQ(none_left.next(5, 1), 6U);
}

}  // namespace
}  // namespace ullage::b_eff_io_schedule_test
