// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::neon_test {
namespace {

TEST(ComputeNeon, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::neon_kernels()) == 0) GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeNeon, OptionalOnesAreAskedForApart) {
  if (compute::built_for() != compute::Architecture::aarch64) GTEST_SKIP() << "of aarch64";
  const auto kernels = compute::neon_kernels();
  EXPECT_EQ(compute::test::named(kernels, "neon/fp64/fma").needs, compute::Feature::neon);
  EXPECT_EQ(compute::test::named(kernels, "neon/fp16/fma").needs, compute::Feature::neon_fp16);
  EXPECT_EQ(compute::test::named(kernels, "neon/int8/dot").operations(), 32);
}

}  // namespace
}  // namespace ullage::neon_test
