// SPDX-License-Identifier: Apache-2.0
#include "base/payload_tag.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ullage::payload_tag_test {
namespace {

constexpr std::uint64_t key = 0x123456789abcdef0;

TEST(PayloadTag, CanBeReadBack) {
  const TagCoder tags(key, 1 << 20);
  for (const std::uint64_t writer : {0UL, 3UL, 4'000'000UL})
    for (const std::uint64_t number : {0UL, 1UL, 77UL, (1UL << 42) - 1}) {
      const TagCoder::Place place{writer, number};
      EXPECT_EQ(tags.decode(tags.encode(place), {0, 0}), place);
    }
}

TEST(PayloadTag, BeyondItsBitsStillTellsPlacesApart) {
  const TagCoder tags(key, 4096);
  const TagCoder::Place near{1, (1UL << 42) + 5};
  EXPECT_NE(tags.encode(near), tags.encode({1, 5}));
  EXPECT_NE(tags.encode({(1UL << 22) + 1, 5}), tags.encode({1, 5}));
  EXPECT_NE(tags.encode({(1UL << 22) + 1, 5}), tags.encode(near));
  EXPECT_EQ(tags.decode(tags.encode({2, (1UL << 42) + 6}), near), (TagCoder::Place{2, (1UL << 42) + 6}));
}

TEST(PayloadTag, AnotherRunsTagDecodesToNothingNear) {
  const TagCoder mine(key, 4096);
  const TagCoder theirs(key + 1, 4096);
  for (std::uint64_t number = 0; number < 1000; ++number)
    EXPECT_NE(mine.decode(theirs.encode({0, number}), {0, number}), (TagCoder::Place{0, number}));
}

TEST(PayloadTag, NumbersRunThroughTransfersOfAnySize) {
  const TagCoder hard(key, 47008);
  EXPECT_EQ(hard.tags_a_transfer(), 92U);  // 91 whole blocks and one of 416 bytes
  EXPECT_EQ(hard.number_at(0), 0U);
  EXPECT_EQ(hard.number_at(2 * 47008), 184U);
  EXPECT_EQ(hard.offset_of(91), 91U * 512);
  EXPECT_EQ(hard.offset_of(92), 47008U);
  EXPECT_EQ(hard.offset_of(93), 47008U + 512);
  const TagCoder tiny(key, 8);
  EXPECT_EQ(tiny.number_at(80), 10U);
  EXPECT_EQ(tiny.offset_of(10), 80U);
}

TEST(PayloadTag, RunsOfTagsAreThoseOfTheirPlaces) {
  const TagCoder tags(key, 1032);
  constexpr std::uint64_t most = std::uint64_t{1} << 42;
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{30}, most - 9, most - 8, most - 3, most, 5 * most - 1}) {
    std::array<std::uint64_t, 8> run{};
    tags.encode_run(run, {(1UL << 22) + 7, first});
    for (std::size_t i = 0; i < run.size(); ++i) EXPECT_EQ(run.at(i), tags.encode({(1UL << 22) + 7, first + i})) << i;
  }
}

}  // namespace
}  // namespace ullage::payload_tag_test
