// SPDX-License-Identifier: Apache-2.0
#include "storage/array_contents.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "storage/test_support.hpp"

namespace ullage {
namespace {

constexpr std::size_t content_bytes = 4096;

class ArrayContents : public testing::TestWithParam<ElementType> {
 protected:
  [[nodiscard]] ElementRun run() const { return {5, 3, GetParam(), 1000}; }
};

TEST_P(ArrayContents, EveryWrongByteIsFound) {
  std::vector<std::byte> data(content_bytes);
  fill_elements(run(), data);
  EXPECT_EQ(check_elements(run(), data).wrong_elements, 0U);
  for (std::size_t i = 0; i < content_bytes; i += 37) {
    auto other = data;
    other[i] ^= std::byte{1};
    const ElementCheck check = check_elements(run(), other);
    EXPECT_EQ(check.wrong_elements, 1U);
    EXPECT_EQ(check.first->element, i / bytes_of(GetParam()));
    EXPECT_NE(check.first->expected, check.first->found);
  }
}

TEST_P(ArrayContents, AnotherPlaceArrayOrDatasetIsFound) {
  std::vector<std::byte> data(content_bytes);
  fill_elements(run(), data);
  for (auto other :
       {ElementRun{6, 3, GetParam(), 1000}, ElementRun{5, 4, GetParam(), 1000}, ElementRun{5, 3, GetParam(), 1001}})
    EXPECT_GT(check_elements(other, data).wrong_elements, content_bytes / bytes_of(GetParam()) * 9 / 10);
}

TEST_P(ArrayContents, PoisonIsNoData) {
  std::vector<std::byte> data(content_bytes);
  poison_elements(data);
  EXPECT_EQ(check_elements(run(), data).wrong_elements, content_bytes / bytes_of(GetParam()));
}

/// Elements that are apart are those that lie together, and what is between them stays.
TEST_P(ArrayContents, StridesChangePlacesAlone) {
  const std::size_t element = bytes_of(GetParam());
  constexpr std::size_t elements = 10;
  std::vector<std::byte> together(elements * element);
  fill_elements(run(), together);
  ElementRun apart = run();
  apart.stride_bytes = 24;
  std::vector<std::byte> data((elements - 1) * 24 + element, std::byte{7});
  ASSERT_EQ(apart.elements_in(data.size()), elements);
  fill_elements(apart, data);
  EXPECT_EQ(check_elements(apart, data).wrong_elements, 0U);
  for (std::size_t i = 0; i < elements; ++i)
    EXPECT_EQ(std::memcmp(data.data() + i * 24, together.data() + i * element, element), 0);
  EXPECT_EQ(std::ranges::count(data, std::byte{7}), static_cast<std::ptrdiff_t>((elements - 1) * (24 - element)));
  data[5 * 24] ^= std::byte{1};
  EXPECT_EQ(check_elements(apart, data).first->element, 5U);
}

INSTANTIATE_TEST_SUITE_P(Types, ArrayContents,
                         testing::Values(ElementType::int32, ElementType::float32, ElementType::float64));

TEST(ArrayNumbers, AreNumbers) {
  std::vector<double> doubles(500);
  fill_elements({5, 3, ElementType::float64, 0}, std::as_writable_bytes(std::span(doubles)));
  for (const double number : doubles) EXPECT_TRUE(number >= 1 && number < 2);
  std::vector<float> floats(500);
  fill_elements({5, 3, ElementType::float32, 0}, std::as_writable_bytes(std::span(floats)));
  for (const float number : floats) EXPECT_TRUE(number >= 1 && number < 2);
}

using namespace test;

class MpiFileHeader : public testing::TestWithParam<std::pair<const char*, bool>> {};

TEST_P(MpiFileHeader, OneThatDiffersIsFoundAndAShortFileIsAnError) {
  Bench bench;
  const auto [name, collective] = GetParam();
  const auto backend = bench.make(name, collective ? Values{{"collective", true}} : Values{});
  const FileHeader header{std::string(200, 'h'), "f", collective, true, bench.world().root()};
  OpenRequest request{"f", OpenMode::create, true, 200};
  const auto open_and_close = [&]() -> Status {
    auto file = open_with_header(*backend, request, header);
    if (!file) return fail(file.error());
    const Status closed = (*file)->close();
    bench.world().all().barrier();
    return closed;
  };
  const auto written = open_and_close();
  ASSERT_TRUE(written) << line_of(written);
  request.mode = OpenMode::read;
  const auto read = open_and_close();
  ASSERT_TRUE(read) << line_of(read);
  if (bench.world().root()) {
    EXPECT_EQ(test::read_file(bench.path("f")), header.text);
    std::fstream stream(bench.path("f"), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(100);
    stream.put('#');
  }
  bench.world().all().barrier();
  const auto bad = open_and_close();
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().kind, ErrorKind::verification);
  EXPECT_EQ(bad.error().offset_bytes, 100U);
  bench.world().all().barrier();
  if (bench.world().root()) std::filesystem::resize_file(bench.path("f"), 150);
  bench.world().all().barrier();
  EXPECT_FALSE(open_and_close());
}

INSTANTIATE_TEST_SUITE_P(Backends, MpiFileHeader,
                         testing::Values(std::pair{"posix", false}, std::pair{"mpiio", false},
                                         std::pair{"mpiio", true}));

}  // namespace

}  // namespace ullage
