// SPDX-License-Identifier: Apache-2.0
#include "linear/factorisation.hpp"

#include <gtest/gtest.h>

#include "linear/linear_check.hpp"
#include "linear/matrix.hpp"
#include "linear/test_support.hpp"

namespace ullage::factorisation_test {
namespace {

constexpr std::uint64_t seed = 5;

struct Factored {
  Matrix<double> matrix;
  std::vector<int> pivots;
  int singular = 0;
};

Matrix<double> filled(int rows, int columns) {
  auto matrix = Matrix<double>::make(rows, columns).value();
  EXPECT_TRUE(fill_uniform(matrix, seed, 1).has_value());
  return matrix;
}

Factored factored(int rows, int columns, int width) {
  Factored result{filled(rows, columns), std::vector<int>(static_cast<std::size_t>(columns)), 0};
  result.singular = factor_blocked(test::PlainBlas(), result.matrix.all(), width, result.pivots);
  return result;
}

class Widths : public ::testing::TestWithParam<int> {};

TEST_P(Widths, FactorsAndPivotsAreThoseOfTheTextbook) {
  for (const int n : {1, 2, 7, 40, 61}) {
    const Factored ours = factored(n, n, GetParam());
    const Matrix<double> matrix = filled(n, n);
    std::vector<int> pivots(static_cast<std::size_t>(n));
    ASSERT_EQ(test::PlainBlas().factor(matrix.all(), pivots), 0);
    EXPECT_EQ(ours.singular, 0);
    EXPECT_EQ(ours.pivots, pivots);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        EXPECT_NEAR(ours.matrix.all().at(i, j), matrix.all().at(i, j), 1e-11) << n << ": " << i << ", " << j;
  }
}

TEST_P(Widths, SystemIsSolvedToHplsRule) {
  constexpr int n = 150;
  const Factored ours = factored(n, n, GetParam());
  std::vector<double> x;
  for (std::uint64_t i = 0; i < n; ++i) x.push_back(uniform_element(seed, std::uint64_t{n} * n + i));
  solve_factored(test::PlainBlas(), ours.matrix.all(), ours.pivots, x);
  EXPECT_LT(scaled_residual(seed, x), most_residual);
}

INSTANTIATE_TEST_SUITE_P(Factorisation, Widths, ::testing::Values(1, 8, 9, 16, 33, 500));

TEST(Factorisation, TallMatrixIsFactored) {
  const Factored ours = factored(50, 20, 7);
  const Matrix<double> matrix = filled(50, 20);
  std::vector<int> pivots(20);
  ASSERT_EQ(test::PlainBlas().factor(matrix.all(), pivots), 0);
  EXPECT_EQ(ours.pivots, pivots);
  for (int i = 0; i < 50; ++i) EXPECT_NEAR(ours.matrix.all().at(i, 19), matrix.all().at(i, 19), 1e-11);
}

TEST(Factorisation, FirstZeroPivotIsNamed) {
  for (const int column : {0, 3, 19, 30}) {
    auto matrix = filled(31, 31);
    for (int row = 0; row < 31; ++row) matrix.all().at(row, column) = 0;
    std::vector<int> pivots(31);
    EXPECT_EQ(factor_blocked(test::PlainBlas(), matrix.all(), 16, pivots), column + 1);
  }
}

}  // namespace
}  // namespace ullage::factorisation_test
