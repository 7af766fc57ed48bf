// SPDX-License-Identifier: Apache-2.0
#include "storage/position_contents.hpp"

#include <gtest/gtest.h>

namespace ullage::position_contents_test {

std::vector<std::byte> made(const PositionContents& contents, std::size_t length, std::uint64_t offset) {
  std::vector<std::byte> bytes(length);
  contents.fill(bytes, offset);
  return bytes;
}

TEST(PositionContents, AnyPartIsThatOfTheWhole) {
  const PositionContents contents(7);
  const auto whole = made(contents, 20000, 8192);
  for (const std::uint64_t begin : {0U, 1U, 511U, 4095U, 4096U, 9999U})
    for (const std::size_t length : {1U, 3U, 500U, 4096U, 9000U}) {
      const auto part = made(contents, length, 8192 + begin);
      EXPECT_TRUE(std::ranges::equal(part, std::span(whole).subspan(begin, length))) << begin << " " << length;
      EXPECT_EQ(contents.check(part, 8192 + begin).bad_blocks, 0U);
    }
}

TEST(PositionContents, OtherPlacesAndKeysDiffer) {
  const auto here = made(PositionContents(7), 4096, 0);
  EXPECT_NE(here, made(PositionContents(7), 4096, 4096));
  EXPECT_NE(here, made(PositionContents(8), 4096, 0));
}

TEST(PositionContents, OneBadByteIsFoundWhereItLies) {
  const PositionContents contents(7);
  for (const std::uint64_t offset : {0U, 3U, 4000U, 12288U}) {
    auto bytes = made(contents, 9000, offset);
    for (const std::size_t bad : {0U, 1U, 4500U, 8999U}) {
      bytes[bad] ^= std::byte{4};
      const auto found = contents.check(bytes, offset);
      ASSERT_TRUE(found.first.has_value());
      EXPECT_EQ(found.first->offset_bytes, offset + bad);
      EXPECT_EQ(found.bad_blocks, 1U);
      bytes[bad] ^= std::byte{4};
    }
  }
}

TEST(PositionContents, SaysWhatIsThereInstead) {
  const PositionContents contents(7);
  auto bytes = made(contents, 8192, 4096);
  contents.fill(std::span(bytes).first(512), 40960);  // a block that lies elsewhere
  EXPECT_NE(contents.check(bytes, 4096).first->found.find("offset 40960"), std::string::npos);
  auto unwritten = made(contents, 100, 100);
  std::ranges::fill(std::span(unwritten).subspan(50), std::byte{0});
  EXPECT_NE(contents.check(unwritten, 100).first->found.find("never written"), std::string::npos);
}

}  // namespace ullage::position_contents_test
