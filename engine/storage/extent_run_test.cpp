// SPDX-License-Identifier: Apache-2.0
#include "storage/extent_run.hpp"

#include <gtest/gtest.h>

namespace ullage::extent_run_test {

std::array<std::byte, 4096> memory;

std::vector<Extent> extents(std::initializer_list<std::uint64_t> offsets, std::size_t step = 8) {
  std::vector<Extent> made;
  for (const std::uint64_t offset : offsets) made.push_back({offset, 8, memory.data() + made.size() * step});
  return made;
}

void expect_same(const std::vector<Extent>& given) {
  const ExtentRun run = run_of(given);
  const std::size_t seen = with_extents(given, run, [&](const auto& extent_at) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Extent found = extent_at(i);
      EXPECT_EQ(found.offset_bytes, given[i].offset_bytes);
      EXPECT_EQ(found.length_bytes, given[i].length_bytes);
      EXPECT_EQ(found.data, given[i].data);
    }
    return given.size();
  });
  EXPECT_EQ(seen, given.size());
}

TEST(ExtentRun, EqualDistancesAreARunForwardsAndBackwards) {
  for (const auto& given : {extents({0, 8, 16, 24}), extents({96, 64, 32, 0}), extents({7, 7, 7}, 0), extents({40})}) {
    EXPECT_TRUE(run_of(given).is_regular);
    expect_same(given);
  }
}

TEST(ExtentRun, OneThatDiffersInAnythingEndsIt) {
  auto lengths = extents({0, 8, 16, 24});
  lengths.back().length_bytes = 16;
  auto places = extents({0, 8, 16, 24});
  places.back().data = memory.data();
  for (const auto& given : {lengths, places, extents({0, 8, 16, 32}), extents({0, 16, 8})}) {
    EXPECT_FALSE(run_of(given).is_regular);
    expect_same(given);
  }
}

TEST(ExtentRun, EndIsThatOfTheExtentThatEndsLast) {
  EXPECT_EQ(run_of({}).end_bytes, 0U);
  EXPECT_EQ(run_of(extents({96, 64, 32, 0})).end_bytes, 104U);
  EXPECT_EQ(run_of(extents({0, 1000, 8})).end_bytes, 1008U);
}

}  // namespace ullage::extent_run_test
