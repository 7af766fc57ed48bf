// SPDX-License-Identifier: Apache-2.0
#include "storage/buffer_ring.hpp"

#include <gtest/gtest.h>

namespace ullage::buffer_ring_test {

TEST(BufferRing, OperationsUseItsBuffersInTurn) {
  AlignedBuffer memory;
  BufferRing ring(memory, 100, 64);
  ring.allocate(3, 10);
  EXPECT_EQ(memory.size(), 3U * 128 + 10);
  EXPECT_EQ(ring[4].data() - memory.bytes().data(), 128);
  EXPECT_EQ(ring[4].size(), 100U);
  EXPECT_EQ(ring[1].data(), ring[4].data());
  EXPECT_EQ(ring.behind().size(), 10U);
}

TEST(BufferRing, AsManyFitAsTheMemoryHolds) {
  AlignedBuffer memory;
  const BufferRing ring(memory, 4097);
  EXPECT_EQ(ring.distance_bytes(), 8192U);
  EXPECT_EQ(ring.count_in(cached_bytes), 32U);
  EXPECT_EQ(ring.count_in(cached_bytes, 5), 5U);
  EXPECT_EQ(ring.count_in(1), 1U);
}

TEST(BufferRing, MemoryThatIsLargeEnoughStays) {
  AlignedBuffer memory(8192);
  const std::byte* const before = memory.bytes().data();
  BufferRing ring(memory, 4096);
  ring.allocate(2);
  EXPECT_EQ(ring[1].data(), before + 4096);
}

TEST(BufferRing, PoisonIsInEveryBuffer) {
  AlignedBuffer memory(3 * 4096);
  BufferRing ring(memory, 64);
  ring.allocate(3);
  ring.poison();
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_NE(ring[i].front(), std::byte{});
  EXPECT_EQ(memory.bytes()[64], std::byte{}) << "between the buffers nothing is written";
}

}  // namespace ullage::buffer_ring_test
