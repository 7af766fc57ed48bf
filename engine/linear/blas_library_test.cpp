// SPDX-License-Identifier: Apache-2.0
// The machine's own BLAS, where it has one.
#include "linear/blas_library.hpp"

#include <gtest/gtest.h>

#include "linear/solve/solve.hpp"
#include "linear/test_support.hpp"

namespace ullage::blas_library_test {

/// Always the same choice: a process loads one.
Result<Blas*> machines_own() { return load_blas({}); }

/// First of all: before the machine's own is loaded.
TEST(BlasLibrary, WhatCannotBeLoadedBindsNobody) {
  EXPECT_FALSE(load_blas({"libnone.so", ""}).has_value());
  const auto own = machines_own();
  EXPECT_TRUE(own || own.error().text.find("separate launches") == std::string::npos);
}

TEST(BlasLibrary, IsLoadedOnceOrTheReasonIsOneLine) {
  const auto first = machines_own();
  const auto second = machines_own();
  ASSERT_EQ(first.has_value(), second.has_value());
  if (first)
    EXPECT_EQ(*first, *second);
  else
    EXPECT_EQ(to_line(first.error()).find('\n'), std::string::npos);
}

TEST(BlasLibrary, AnotherChoiceIsRefused) {
  if (!machines_own()) GTEST_SKIP() << to_line(machines_own().error());
  for (const BlasChoice& other : {BlasChoice{"", "Haswell"}, BlasChoice{"libother.so", ""}}) {
    const auto refused = load_blas(other);
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(refused.error().text.find("separate launches"), std::string::npos);
  }
}

TEST(BlasLibrary, ProductsAndTrianglesAreRight) {
  const auto blas = machines_own();
  if (!blas) GTEST_SKIP() << to_line(blas.error());
  constexpr int n = 200;
  const auto a = Matrix<double>::make(n, n).value();
  const auto b = Matrix<double>::make(n, n).value();
  const auto c = Matrix<double>::make(n, n).value();
  ASSERT_TRUE(fill_uniform(a, 1, 1).has_value());
  ASSERT_TRUE(fill_uniform(b, 2, 1).has_value());
  (*blas)->multiply(1, a.all(), b.all(), 0, c.all());
  EXPECT_TRUE(check_product(a.all(), b.all(), c.all(), 1).has_value());
  const Block<double> part = a.all().part(3, 5, 20, 20);
  const Block<double> ours = b.all().part(0, 0, 20, 4);
  const Block<double> plain = c.all().part(0, 0, 20, 4);
  for (const Triangle triangle : {Triangle::unit_lower, Triangle::upper}) {
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 20; ++i) plain.at(i, j) = ours.at(i, j);
    (*blas)->solve_triangle(triangle, part, ours);
    test::PlainBlas().solve_triangle(triangle, part, plain);
    for (int i = 0; i < 20; ++i) EXPECT_NEAR(ours.at(i, 3) / plain.at(i, 3), 1, 1e-8);
  }
}

TEST(BlasLibrary, ItsFactorsAndOursSolveTheSameSystem) {
  const auto blas = machines_own();
  if (!blas) GTEST_SKIP() << to_line(blas.error());
  constexpr int n = 300;
  for (const bool own : {true, false}) {
    if (!own && !(*blas)->can_factor()) continue;
    const auto a = Matrix<double>::make(n, n).value();
    ASSERT_TRUE(fill_uniform(a, 6, 1).has_value());
    std::vector<int> pivots(n);
    std::vector<double> x;
    for (std::uint64_t i = 0; i < n; ++i) x.push_back(uniform_element(6, std::uint64_t{n} * n + i));
    ASSERT_EQ(own ? factor_blocked(**blas, a.all(), 64, pivots) : (*blas)->factor(a.all(), pivots), 0);
    solve_factored(**blas, a.all(), pivots, x);
    EXPECT_LT(scaled_residual(6, x), most_residual);
  }
}

TEST(BlasLibrary, SaysWhatItIsAndUsesTheThreadsItIsTold) {
  const auto blas = machines_own();
  if (!blas) GTEST_SKIP() << to_line(blas.error());
  EXPECT_NE((*blas)->facts().at("library").find('/'), std::string::npos);
  for (const int threads : {2, 1}) {
    if (!(*blas)->use_threads(threads)) continue;
    EXPECT_EQ((*blas)->threads(), threads);
  }
}

TEST(BlasCalls, LibraryThatIsNoneIsRefused) {
  void* handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr);
  const auto calls = find_calls(handle);
  ASSERT_FALSE(calls.has_value());
  EXPECT_NE(calls.error().text.find("dgemm_"), std::string::npos);
}

void no_product(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
                const double*, const int*, const double*, double*, const int*, std::size_t, std::size_t) {}

TEST(BlasCalls, FactsAreWhatTheLibrarySays) {
  BlasCalls calls;
  calls.dgemm = no_product;
  EXPECT_FALSE(facts_of(calls).contains("core"));
  EXPECT_FALSE(facts_of(calls).contains("config"));
  calls.core = [] { return "Haswell"; };
  calls.config = [] { return " OpenBLAS 0.3.21  NO_AFFINITY \n"; };
  const Map facts = facts_of(calls);
  EXPECT_EQ(facts.at("core"), "Haswell");
  EXPECT_EQ(facts.at("config"), "OpenBLAS 0.3.21  NO_AFFINITY");
  EXPECT_FALSE(facts.at("library").empty());
}

TEST(BlasCalls, BlissCoreIsTheNameOfItsNumber) {
  BlasCalls calls;
  calls.dgemm = no_product;
  calls.architecture = [] { return 7; };
  EXPECT_FALSE(facts_of(calls).contains("core"));
  calls.architecture_text = [](int number) { return number == 7 ? "zen3" : "another"; };
  EXPECT_EQ(facts_of(calls).at("core"), "zen3");
}

std::string core_now() {
  const char* const found = std::getenv("OPENBLAS_CORETYPE");
  return found == nullptr ? "none" : found;
}

TEST(KernelChoice, IsToldForAsLongAsTheLibraryIsLoaded) {
  const KernelChoice outer("Zen");
  {
    const KernelChoice inner("Haswell");
    EXPECT_EQ(core_now(), "Haswell");
  }
  EXPECT_EQ(core_now(), "Zen");
  {
    const KernelChoice nothing("");
  }
  EXPECT_EQ(core_now(), "Zen");
}

}  // namespace ullage::blas_library_test
