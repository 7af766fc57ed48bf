// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::sse2_test {
namespace {

TEST(ComputeSse2, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::sse2_kernels()) == 0) GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeSse2, LaterInstructionsAreAskedForApart) {
  if (compute::built_for() != compute::Architecture::x86_64) GTEST_SKIP() << "of x86-64";
  const auto kernels = compute::sse2_kernels();
  EXPECT_EQ(compute::test::named(kernels, "sse2/fp64/add").needs, compute::Feature::always);
  EXPECT_EQ(compute::test::named(kernels, "sse2/fp64/fma").needs, compute::Feature::fma3);
  EXPECT_EQ(compute::test::named(kernels, "sse2/int32/multiply").needs, compute::Feature::sse41);
  EXPECT_EQ(compute::test::named(kernels, "sse2/int8/add").lanes, 16);
}

}  // namespace
}  // namespace ullage::sse2_test
