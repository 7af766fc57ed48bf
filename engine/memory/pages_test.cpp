// SPDX-License-Identifier: Apache-2.0
#include "memory/pages.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

namespace ullage::pages_test {

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
constexpr const char* smaps =
    "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \n"
    "Size:               4096 kB\n"
    "AnonHugePages:      2048 kB\n"
    "Private_Hugetlb:    4096 kB\n"
    "VmFlags: rd wr mr mw me ac sd\n"
    "7f0000400000-7f0000401000 ---p 00000000 00:00 0 \n"
    "AnonHugePages:        64 kB\n"
    "7f0000600000-7f0000a00000 rw-p 00000000 00:00 0                          [anon]\n"
    "AnonHugePages:      1024 kB\n";

TEST(HugeBytes, AreThoseOfMappingsBetweenTheAddresses) {
  EXPECT_EQ(parse_huge_bytes(smaps, 0x7f0000000000, 0x7f0000400000), 6144 * 1024U);
  EXPECT_EQ(parse_huge_bytes(smaps, 0x7f0000600000, 0x7f0000a00000), 1024 * 1024U);
  EXPECT_EQ(parse_huge_bytes(smaps, 0x7f0000000000, 0x7f0000a00000), (6144 + 64 + 1024) * 1024U);
  EXPECT_EQ(parse_huge_bytes(smaps, 0x7f0000000000, 0x7f0000200000), 0U);  // half of one: whose it is cannot be told
  EXPECT_EQ(parse_huge_bytes("", 0, 1), 0U);
}

TEST(Region, IsZeroedAlignedAndWritable) {
  for (const Pages pages : {Pages::system, Pages::small, Pages::huge}) {
    const auto region = Region::map(3 * mib + 1, pages);
    ASSERT_TRUE(region);
    const auto bytes = region->bytes();
    EXPECT_GE(bytes.size(), 3 * mib + 1);
    EXPECT_EQ(std::bit_cast<std::uintptr_t>(bytes.data()) % (2 * mib), 0U);
    ASSERT_TRUE(region->touch(bytes));
    EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; }));
    bytes.back() = std::byte{7};
    EXPECT_EQ(bytes.back(), std::byte{7});
  }
}

TEST(Region, TouchesWhatItIsToldToAndKeepsItsContents) {
  const auto region = Region::map(mib, Pages::small);
  ASSERT_TRUE(region);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  region->bytes()[5 * page] = std::byte{9};
  ASSERT_TRUE(region->touch(region->bytes().subspan(4 * page + 100, 2 * page)));
  std::vector<unsigned char> resident(mib / page);
  ASSERT_EQ(mincore(region->bytes().data(), mib, resident.data()), 0);
  for (std::size_t i = 0; i < resident.size(); ++i) EXPECT_EQ(resident[i] & 1, i >= 4 && i <= 6 ? 1 : 0) << i;
  EXPECT_EQ(region->bytes()[5 * page], std::byte{9});
  EXPECT_TRUE(region->touch({}));
}

TEST(Region, SmallPagesAreNeverHuge) {
  const auto region = Region::map(8 * mib, Pages::small);
  ASSERT_TRUE(region && region->touch(region->bytes()));
  EXPECT_EQ(region->huge_bytes(), 0U);
}

TEST(Region, HugePagesOfNeighboursAreNotCounted) {
  const auto huge = Region::map(4 * mib, Pages::huge);
  const auto none = Region::map(4 * mib, Pages::huge);
  const auto more = Region::map(4 * mib, Pages::huge);
  ASSERT_TRUE(huge && none && more);
  ASSERT_TRUE(huge->touch(huge->bytes()) && more->touch(more->bytes()));
  EXPECT_LE(huge->huge_bytes(), 4 * mib);
  EXPECT_EQ(none->huge_bytes(), 0U);  // nobody has touched it
}

TEST(Region, MovedFromHoldsNothing) {
  auto region = Region::map(mib, Pages::system);
  ASSERT_TRUE(region);
  std::byte* const where = region->bytes().data();
  Region other = std::move(*region);
  EXPECT_EQ(other.bytes().data(), where);
  auto third = Region::map(mib, Pages::system);
  *third = std::move(other);
  EXPECT_EQ(third->bytes().data(), where);
}

TEST(Region, MoreThanThereAreAddressesIsAnError) {
  const auto region = Region::map(std::uint64_t{1} << 60U, Pages::system);
  ASSERT_FALSE(region);
  EXPECT_EQ(region.error().errno_value, ENOMEM);
}

TEST(Region, OnANodeThatIsNotThereIsAnError) { EXPECT_FALSE(Region::map(mib, Pages::system, 1000)); }

}  // namespace ullage::pages_test
