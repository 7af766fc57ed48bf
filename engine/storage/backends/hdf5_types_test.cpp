// SPDX-License-Identifier: Apache-2.0
#include "storage/backends/hdf5_types.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::hdf5_types_test {
namespace {

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

}  // namespace
}  // namespace ullage::hdf5_types_test
