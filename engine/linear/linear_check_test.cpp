// SPDX-License-Identifier: Apache-2.0
#include "linear/linear_check.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "linear/test_support.hpp"

namespace ullage::linear_check_test {

constexpr int n = 120;
constexpr std::uint64_t seed = 9;

template <class T>
struct Product {
  Matrix<T> a = Matrix<T>::make(n, n).value();
  Matrix<T> b = Matrix<T>::make(n, n).value();
  Matrix<T> c = Matrix<T>::make(n, n).value();
  Product() {
    EXPECT_TRUE(fill_uniform(a, 1, 1).has_value());
    EXPECT_TRUE(fill_uniform(b, 2, 1).has_value());
    test::PlainBlas().multiply(T{1}, a.all(), b.all(), T{0}, c.all());
  }
  [[nodiscard]] Status check() const { return check_product(a.all(), b.all(), c.all(), seed); }
};

template <class T>
class LinearCheck : public ::testing::Test {};
using Types = ::testing::Types<double, float>;
TYPED_TEST_SUITE(LinearCheck, Types);

TYPED_TEST(LinearCheck, RightProductPasses) { EXPECT_TRUE(Product<TypeParam>().check().has_value()); }

TYPED_TEST(LinearCheck, AnySingleWrongElementIsFound) {
  const Product<TypeParam> product;
  const auto error = static_cast<TypeParam>(2e4 * std::numeric_limits<TypeParam>::epsilon() * n);
  for (int i = 0; i < n; i += 7)
    for (int j = 0; j < n; j += 11) {
      TypeParam& element = product.c.all().at(i, j);
      const TypeParam right = element;
      element += error;
      EXPECT_FALSE(product.check().has_value()) << i << ", " << j;
      element = right;
    }
}

TYPED_TEST(LinearCheck, WhatIsNoNumberIsFound) {
  const Product<TypeParam> product;
  product.c.all().at(17, 31) = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_FALSE(product.check().has_value());
}

TEST(LinearCheckOfARow, SmallErrorIsFoundAndNamed) {
  const Product<double> product;
  const auto row = static_cast<int>(mix64(seed) % n);
  product.c.all().at(row, 5) += 1e-11;
  const Status found = product.check();
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().kind, ErrorKind::verification);
  EXPECT_NE(found.error().text.find(std::to_string(row)), std::string::npos);
}

/// The solution of the system of `seed`, by plain elimination.
std::vector<double> solution(std::uint64_t of_seed) {
  const auto matrix = Matrix<double>::make(n, n).value();
  EXPECT_TRUE(fill_uniform(matrix, of_seed, 1).has_value());
  std::vector<int> pivots(n);
  const test::PlainBlas blas;
  EXPECT_EQ(blas.factor(matrix.all(), pivots), 0);
  std::vector<double> x;
  for (std::uint64_t i = 0; i < n; ++i) x.push_back(uniform_element(of_seed, std::uint64_t{n} * n + i));
  for (std::size_t i = 0; i < n; ++i) std::swap(x[i], x[static_cast<std::size_t>(pivots[i] - 1)]);
  blas.solve_triangle(Triangle::unit_lower, matrix.all(), x);
  blas.solve_triangle(Triangle::upper, matrix.all(), x);
  return x;
}

TEST(ScaledResidual, OfASolutionIsSmallAndOfAnotherSystemsLarge) {
  EXPECT_LT(scaled_residual(3, solution(3)), most_residual);
  EXPECT_GT(scaled_residual(3, solution(4)), most_residual);
}

TEST(ScaledResidual, OneWrongElementShows) {
  auto x = solution(3);
  x[n / 2] *= 1 + 1e-10;
  EXPECT_GT(scaled_residual(3, x), most_residual);
}

TEST(ScaledResidual, IsHplsFormula) {
  // n = 1: |a x - b| / (2^-53 (|a||x| + |b|))
  const double a = uniform_element(8, 0);
  const double b = uniform_element(8, 1);
  const double x = b / a + 1e-3;
  const double expected = std::abs(a * x - b) / (0x1p-53 * (std::abs(a) * std::abs(x) + std::abs(b)));
  EXPECT_NEAR(scaled_residual(8, std::vector{x}) / expected, 1, 1e-12);
}

TEST(ScaledResidual, WhatIsNoNumberIsNotBelowAnything) {
  auto x = solution(3);
  x[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(scaled_residual(3, x) < most_residual);
  x[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(scaled_residual(3, x) < most_residual);
}

}  // namespace ullage::linear_check_test
