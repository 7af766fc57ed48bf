// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/flash/contents.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

namespace ullage {
namespace {

constexpr std::size_t content_bytes = 4096;

class FlashContents : public testing::TestWithParam<ElementType> {
 protected:
  [[nodiscard]] FlashRun run() const { return {5, 3, GetParam(), 1000}; }
};

TEST_P(FlashContents, EveryWrongByteIsFound) {
  std::vector<std::byte> data(content_bytes);
  fill_flash(run(), data);
  EXPECT_EQ(check_flash(run(), data).wrong_elements, 0U);
  for (std::size_t i = 0; i < content_bytes; i += 37) {
    auto other = data;
    other[i] ^= std::byte{1};
    const FlashCheck check = check_flash(run(), other);
    EXPECT_EQ(check.wrong_elements, 1U);
    EXPECT_EQ(check.first->element, i / bytes_of(GetParam()));
    EXPECT_NE(check.first->expected, check.first->found);
  }
}

TEST_P(FlashContents, AnotherPlaceArrayOrDatasetIsFound) {
  std::vector<std::byte> data(content_bytes);
  fill_flash(run(), data);
  for (auto other :
       {FlashRun{6, 3, GetParam(), 1000}, FlashRun{5, 4, GetParam(), 1000}, FlashRun{5, 3, GetParam(), 1001}})
    EXPECT_GT(check_flash(other, data).wrong_elements, content_bytes / bytes_of(GetParam()) * 9 / 10);
}

TEST_P(FlashContents, PoisonIsNoData) {
  std::vector<std::byte> data(content_bytes);
  poison_flash(data);
  EXPECT_EQ(check_flash(run(), data).wrong_elements, content_bytes / bytes_of(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Types, FlashContents,
                         testing::Values(ElementType::int32, ElementType::float32, ElementType::float64));

TEST(FlashNumbers, AreNumbers) {
  std::vector<double> doubles(500);
  fill_flash({5, 3, ElementType::float64, 0}, std::as_writable_bytes(std::span(doubles)));
  for (const double number : doubles) EXPECT_TRUE(number >= 1 && number < 2);
  std::vector<float> floats(500);
  fill_flash({5, 3, ElementType::float32, 0}, std::as_writable_bytes(std::span(floats)));
  for (const float number : floats) EXPECT_TRUE(number >= 1 && number < 2);
}

}  // namespace
}  // namespace ullage
