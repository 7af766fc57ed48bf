// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_chunk.hpp"

#include <gtest/gtest.h>

namespace ullage::hdf5_chunk_test {
namespace {

using Chunk = std::vector<HdfSize>;

TEST(Hdf5Chunk, HoldsWholeRowsWhereItCan) {
  const ArraySpec spec{"a", ElementType::float64, {10, 4, 8}};  // rows of 256 bytes
  EXPECT_EQ(hdf5_chunk(spec, 1024), (Chunk{4, 4, 8}));
  EXPECT_EQ(hdf5_chunk(spec, 256), (Chunk{1, 4, 8}));
  EXPECT_EQ(hdf5_chunk(spec, 1 << 20), (Chunk{10, 4, 8})) << "no more than there is";
}

TEST(Hdf5Chunk, IsPartOfARowThatIsLarger) {
  const ArraySpec spec{"a", ElementType::byte, {3, 100, 50, 20}};
  EXPECT_EQ(hdf5_chunk(spec, 10'000), (Chunk{1, 10, 50, 20}));
  EXPECT_EQ(hdf5_chunk(spec, 999), (Chunk{1, 1, 49, 20}));
  EXPECT_EQ(hdf5_chunk(spec, 7), (Chunk{1, 1, 1, 7}));
  EXPECT_EQ(hdf5_chunk({"a", ElementType::float64, {3, 2}}, 1), (Chunk{1, 1}));
}

TEST(Hdf5Chunk, OfAnEmptyArrayHasAnElement) { EXPECT_EQ(hdf5_chunk({"a", ElementType::int32, {0}}, 4096), (Chunk{1})); }

}  // namespace
}  // namespace ullage::hdf5_chunk_test
