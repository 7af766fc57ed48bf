// SPDX-License-Identifier: Apache-2.0
#include "memory/room.hpp"

#include <gtest/gtest.h>

namespace ullage::room_test {
namespace {

TEST(Room, OfAGroupIsItsLimitLessWhatIsHeldAndCannotBeReclaimed) {
  EXPECT_EQ(parse_cgroup_room("1000", "400", "anon 100\ninactive_file 150\n"), 750U);
  EXPECT_EQ(parse_cgroup_room("1000", "400", ""), 600U);
  EXPECT_EQ(parse_cgroup_room("1000", "2000", ""), 0U);
  EXPECT_EQ(parse_cgroup_room("1000", "100", "inactive_file 150\n"), 1000U);
}

TEST(Room, GroupWithoutALimitHasNone) {
  EXPECT_FALSE(parse_cgroup_room("max", "400", ""));
  EXPECT_FALSE(parse_cgroup_room("1000", "", ""));
}

TEST(Room, MoreThanThereIsIsRefusedWithBothNumbers) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  EXPECT_TRUE(check_room("set", 99 * mib, 100 * mib));
  const Status status = check_room("set", 100 * mib, 100 * mib);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
  EXPECT_NE(to_line(status.error()).find("needs 100 MiB on this node, which has 100 MiB left"), std::string::npos);
  EXPECT_TRUE(check_room("set", std::uint64_t{1} << 60U, std::nullopt));  // a system that does not say
}

TEST(Room, OfThisMachineIsLessThanAPebibyte) {
  const auto room = memory_room();
  ASSERT_TRUE(room);
  EXPECT_GT(*room, 0U);
  EXPECT_FALSE(check_room("set", std::uint64_t{1} << 50U));
}

}  // namespace
}  // namespace ullage::room_test
