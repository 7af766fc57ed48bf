// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::hdf5_arrays_test {

using namespace test;

std::vector<ArraySpec> specs_for(std::uint64_t rows) {
  return {{"numbers", ElementType::float64, {rows, 3, 2}}, {"ids", ElementType::int32, {rows}}};
}

/// Rank r has the r + 1 rows behind those of the ranks before it.
struct Part {
  explicit Part(int rank) : first(static_cast<std::uint64_t>(rank) * (static_cast<std::uint64_t>(rank) + 1) / 2) {
    const std::uint64_t rows = static_cast<std::uint64_t>(rank) + 1;
    numbers.assign(rows * 6, 0.5 + rank);
    ids.assign(rows, 100 + rank);
  }
  [[nodiscard]] std::array<ArrayRows, 2> operations() {
    return {ArrayRows{0, first, ids.size(), reinterpret_cast<std::byte*>(numbers.data())},
            ArrayRows{1, first, ids.size(), reinterpret_cast<std::byte*>(ids.data())}};
  }
  std::uint64_t first;
  std::vector<double> numbers;
  std::vector<int> ids;
};

class MpiHdf5Arrays : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  }
};

TEST_P(MpiHdf5Arrays, UnevenRowsComeBack) {
  Bench bench;
  const auto backend = bench.make("hdf5", {{"collective", GetParam()}});
  const auto ranks = static_cast<std::uint64_t>(bench.world().size());
  const auto specs = specs_for(ranks * (ranks + 1) / 2);
  for (const auto mode : {OpenMode::create, OpenMode::read}) {
    Part part(mode == OpenMode::create ? bench.world().rank() : bench.world().rank());
    const Part wanted(bench.world().rank());
    if (mode == OpenMode::read) {
      part.numbers.assign(part.numbers.size(), -1);
      part.ids.assign(part.ids.size(), -1);
    }
    const auto file = backend->open_arrays({"f", mode, true, 0}, specs);
    ASSERT_TRUE(file) << line_of(file);
    RunningMeter meter;
    const auto operations = part.operations();
    const auto direction = mode == OpenMode::create ? Direction::write : Direction::read;
    const auto moved = (*file)->transfer(direction, operations, *meter);
    ASSERT_TRUE(moved) << line_of(moved);
    EXPECT_EQ(meter->operations(), 2U);
    EXPECT_EQ(meter->bytes(), part.ids.size() * (6 * 8 + 4));
    EXPECT_TRUE((*file)->close());
    EXPECT_EQ(part.numbers, wanted.numbers);
    EXPECT_EQ(part.ids, wanted.ids);
  }
}

TEST_P(MpiHdf5Arrays, AFileWithOtherRowsIsRefused) {
  Bench bench;
  const auto backend = bench.make("hdf5", {{"collective", GetParam()}});
  const auto file = backend->open_arrays({"f", OpenMode::create, true, 0}, specs_for(10));
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_TRUE((*file)->close());
  const auto other = backend->open_arrays({"f", OpenMode::read, true, 0}, specs_for(11));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().text, "dataset 'numbers' has 10 rows, must have 11");
  const std::vector<ArraySpec> unknown{{"none", ElementType::int32, {10}}};
  EXPECT_FALSE(backend->open_arrays({"f", OpenMode::read, true, 0}, unknown));
  const auto again = backend->open_arrays({"f", OpenMode::read, true, 0}, specs_for(10));
  ASSERT_TRUE(again) << line_of(again);
  EXPECT_TRUE((*again)->close());
}

INSTANTIATE_TEST_SUITE_P(Ways, MpiHdf5Arrays, testing::Bool());

}  // namespace ullage::hdf5_arrays_test
