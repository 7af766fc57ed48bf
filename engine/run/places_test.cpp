// SPDX-License-Identifier: Apache-2.0
#include "run/places.hpp"

#include <gtest/gtest.h>

namespace ullage::places_test {
namespace {

constexpr std::uint64_t gib = 1ULL << 30;

TargetSpace disk(std::uint64_t free_bytes) { return {free_bytes, 1000, 4096, "ext4", false, 1}; }

bool fits(const TargetSpace& space, std::uint64_t bytes, const Limits& limits = {}, std::uint64_t memory = 0) {
  return check_room({"a", "posix", "/a"}, space, bytes, 10, limits, memory).has_value();
}

TEST(Places, AtMostHalfOfWhatIsFree) {
  EXPECT_TRUE(fits(disk(10 * gib), 5 * gib));
  EXPECT_FALSE(fits(disk(10 * gib), 5 * gib + 1));
}

TEST(Places, NeverTheLastGibibyte) {
  Limits all;
  all.space_fraction = 1;
  EXPECT_TRUE(fits(disk(3 * gib), 2 * gib, all));
  EXPECT_FALSE(fits(disk(3 * gib), 2 * gib + 1, all));
  EXPECT_FALSE(fits(disk(gib / 2), 1, all));
}

TEST(Places, PlansLimitCounts) {
  Limits small;
  small.space_bytes = 100;
  EXPECT_TRUE(fits(disk(10 * gib), 100, small));
  EXPECT_FALSE(fits(disk(10 * gib), 101, small));
}

TEST(Places, MemoryFileSystemIsBoundedByAvailableMemory) {
  TargetSpace memory = disk(100 * gib);
  memory.memory = true;
  EXPECT_TRUE(fits(memory, 2 * gib, {}, 4 * gib));
  EXPECT_FALSE(fits(memory, 2 * gib + 1, {}, 4 * gib));
}

TEST(Places, APartIsRoundedUpAndNeverOverflows) {
  EXPECT_EQ(part_of(3 * gib, 1, 4), 3 * gib / 4);
  EXPECT_EQ(part_of(10, 3, 4), 8U);
  EXPECT_EQ(part_of(10, 4, 4), 10U);
  EXPECT_EQ(part_of(UINT64_MAX, 3, 3), UINT64_MAX);
  EXPECT_EQ(part_of(0, 1, 4), 0U);
}

TEST(Places, OnFourDisksOfNodesAQuarterLiesOnEach) {
  EXPECT_FALSE(fits(disk(4 * gib), 3 * gib));
  EXPECT_TRUE(fits(disk(4 * gib), part_of(3 * gib, 1, 4)));
  EXPECT_TRUE(disk(gib).of_this_node());
  EXPECT_FALSE((TargetSpace{gib, 1000, 4096, "lustre", false, 1}.of_this_node()));
}

TEST(Places, InodesAndTheReasonAreNamed) {
  const auto status = check_room({"a", "posix", "/a"}, disk(10 * gib), 1, 501, {}, 0);
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().text.find("inodes"), std::string::npos);
  EXPECT_NE(status.error().where.find("/a"), std::string::npos);
}

}  // namespace
}  // namespace ullage::places_test
