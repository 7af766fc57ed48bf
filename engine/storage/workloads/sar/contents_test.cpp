// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/contents.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::sar_contents_test {
namespace {

constexpr SarData kinds[] = {SarData::raw, SarData::templates, SarData::images, SarData::records};

TEST(SarContents, APieceIsKnownByItsKindAndPlace) {
  const SarContents contents(42);
  std::vector<std::byte> piece(256);
  for (const SarData kind : kinds) {
    contents.fill(kind, piece, 3024 * 7 + 20);
    for (const SarData other : kinds)
      EXPECT_EQ(contents.check(other, piece, 3024 * 7 + 20).bad_blocks == 0, kind == other);
    EXPECT_GT(contents.check(kind, piece, 3024 * 8 + 20).bad_blocks, 0U) << "the row below";
  }
}

TEST(SarContents, APartIsThatOfTheWhole) {
  const SarContents contents(7);
  std::vector<std::byte> whole(20'000);
  contents.fill(SarData::images, whole, 4'000);
  EXPECT_EQ(contents.check(SarData::images, std::span(whole).subspan(5'001, 333), 9'001).bad_blocks, 0U);
  whole[5'100] ^= std::byte{4};
  const auto found = contents.check(SarData::images, std::span(whole).subspan(5'001, 333), 9'001);
  EXPECT_EQ(found.bad_blocks, 1U);
  EXPECT_EQ(found.first->offset_bytes, 9'100U);
}

TEST(SarContents, AnotherRunHasOtherData) {
  std::vector<std::byte> piece(64);
  SarContents(1).fill(SarData::records, piece, 128);
  EXPECT_GT(SarContents(2).check(SarData::records, piece, 128).bad_blocks, 0U);
}

}  // namespace
}  // namespace ullage::sar_contents_test
