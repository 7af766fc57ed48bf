// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_types.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::hdf5_types_test {

/// Numbers have the types of the library.
TEST(Hdf5Types, RecordsAreMadeOnce) {
  if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  const auto calls = open_hdf5();
  ASSERT_TRUE(calls) << test::line_of(calls);
  Hdf5Types types(**calls);
  EXPECT_NE(types.number(ElementType::int32), types.number(ElementType::float32));
  EXPECT_EQ(types.of({"a", ElementType::float64, {4}}), types.number(ElementType::float64));
  const std::vector<RecordField> two{{"x", ElementType::float32}, {"id", ElementType::int32}};
  const HdfId both = types.record(two);
  EXPECT_GE(both, 0);
  EXPECT_EQ(types.of({"a", ElementType::byte, {4}, two}), both);
  const HdfId first = types.record(std::span(two).first(1));
  EXPECT_GE(first, 0);
  EXPECT_NE(first, both);
  EXPECT_EQ(types.record(two), both);
}

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

}  // namespace ullage::hdf5_types_test
