// SPDX-License-Identifier: Apache-2.0
#include "linear/matrix.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>

#include "base/test_support.hpp"

namespace ullage::matrix_test {

TEST(UniformElement, IsSpreadEvenlyAndDiffersBySeed) {
  constexpr std::uint64_t count = 100'000;
  double sum = 0;
  double squares = 0;
  std::uint64_t same = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const double value = uniform_element(1, i);
    ASSERT_GE(value, -0.5);
    ASSERT_LT(value, 0.5);
    sum += value;
    squares += value * value;
    if (value == uniform_element(2, i)) ++same;
  }
  EXPECT_NEAR(sum / count, 0, 0.005);
  EXPECT_NEAR(squares / count, 1.0 / 12, 0.002);
  EXPECT_EQ(same, 0U);
}

TEST(Matrix, ContentsDoNotDependOnTheThreadsThatMakeThem) {
  for (const int threads : {1, 2, 3, 8}) {
    const auto matrix = Matrix<double>::make(700, 900).value();  // 5 MB: parts of 2 MiB for three
    ASSERT_TRUE(fill_uniform(matrix, 4, threads).has_value());
    const Block<double> all = matrix.all();
    for (int j = 0; j < 900; ++j)
      for (int i = 0; i < 700; ++i)
        ASSERT_EQ(all.at(i, j), uniform_element(4, static_cast<std::uint64_t>(i + j * 700))) << threads;
  }
}

TEST(Matrix, SmallNumbersAreTheSameRounded) {
  const auto matrix = Matrix<float>::make(3, 5).value();
  ASSERT_TRUE(fill_uniform(matrix, 4, 2).has_value());
  EXPECT_EQ(matrix.all().at(2, 4), static_cast<float>(uniform_element(4, 14)));
}

TEST(Matrix, AThreadThatDoesNotStartIsAnError) {
  const auto matrix = Matrix<double>::make(700, 900).value();
  const test::FewThreads few(1);
  const Status filled = fill_uniform(matrix, 4, 3);
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().errno_value, EAGAIN);
}

TEST(Matrix, MoreThanThereIsIsAnError) { EXPECT_FALSE(Matrix<double>::make(2'000'000'000, 2'000'000'000).has_value()); }

TEST(Block, PartsKeepTheirPlaces) {
  const auto matrix = Matrix<double>::make(6, 7).value();
  ASSERT_TRUE(fill_uniform(matrix, 4, 1).has_value());
  const Block<double> part = matrix.all().part(2, 3, 4, 2);
  EXPECT_EQ(part.rows, 4);
  EXPECT_EQ(part.columns, 2);
  EXPECT_EQ(&part.at(1, 1), &matrix.all().at(3, 4));
  EXPECT_EQ(matrix.all().part(6, 7, 0, 0).columns, 0);
}

}  // namespace ullage::matrix_test
