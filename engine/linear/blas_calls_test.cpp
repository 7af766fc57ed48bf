// SPDX-License-Identifier: Apache-2.0
#include "linear/blas_calls.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace ullage::blas_calls_test {
namespace {

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

}  // namespace
}  // namespace ullage::blas_calls_test
