// SPDX-License-Identifier: Apache-2.0
#include "base/hex.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ullage::hex_test {

TEST(Hex, NumbersHaveTheirLeadingZeros) {
  EXPECT_EQ(hex_of(0xabc, 2), "0abc");
  EXPECT_EQ(hex_of(0x123456789abcdef0, 8), "123456789abcdef0");
  EXPECT_EQ(hex_of(0x1ff, 1), "ff") << "only the lowest byte";
}

TEST(Hex, MemoryIsReadFromItsBeginning) {
  const std::array bytes{std::byte{0x0f}, std::byte{0xa0}, std::byte{0x01}};
  EXPECT_EQ(hex_of(bytes, 8), "0fa001");
  EXPECT_EQ(hex_of(bytes, 2), "0fa0");
  EXPECT_EQ(hex_of(std::span<const std::byte>{}, 8), "");
}

TEST(Hex, DigitsAreOfLowerCase) {
  EXPECT_TRUE(is_hex("0123456789abcdef"));
  EXPECT_TRUE(is_hex(""));
  EXPECT_FALSE(is_hex("0A"));
  EXPECT_FALSE(is_hex("0g"));
}

}  // namespace ullage::hex_test
