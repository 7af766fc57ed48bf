// SPDX-License-Identifier: Apache-2.0
#include "base/aligned_buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace ullage::aligned_buffer_test {
namespace {

TEST(AlignedBuffer, IsAlignedAndZeroed) {
  for (const std::size_t alignment : {64UL, 512UL, 4096UL, 65536UL}) {
    for (const std::size_t size : {8UL, 4096UL, 47008UL}) {
      AlignedBuffer buffer(size, alignment);
      EXPECT_EQ(buffer.size(), size);
      EXPECT_EQ(buffer.bytes().size(), size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % alignment, 0U);
      EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
    }
  }
}

TEST(AlignedBuffer, LargeOnesBeginWhereHugePagesDo) {
  constexpr std::uintptr_t huge = std::uintptr_t{2} << 20;
  for (const std::size_t size : {huge, huge + 4096}) {
    AlignedBuffer buffer(size);
    EXPECT_EQ(buffer.size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes().data()) % huge, 0U);
    EXPECT_TRUE(std::ranges::all_of(buffer.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(AlignedBuffer, EmptyNeedsNoMemory) {
  EXPECT_EQ(AlignedBuffer().bytes().data(), nullptr);
  EXPECT_EQ(AlignedBuffer(0).bytes().size(), 0U);
}

TEST(AlignedBuffer, MovesWithItsContents) {
  AlignedBuffer first(64);
  first.bytes()[0] = std::byte{7};
  const AlignedBuffer second = std::move(first);
  EXPECT_EQ(second.bytes()[0], std::byte{7});
}

}  // namespace
}  // namespace ullage::aligned_buffer_test
