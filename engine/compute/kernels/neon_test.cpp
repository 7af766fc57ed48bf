// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::neon_test {

TEST(ComputeNeon, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("neon")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeNeon, OptionalOnesAreAskedForApart) {
  if (built_for() != Architecture::aarch64) GTEST_SKIP() << "of aarch64";
  const auto kernels = compute::test::kernels_of("neon");
  EXPECT_EQ(compute::test::named(kernels, "neon/fp64/fma").needs.name, features::neon.name);
  EXPECT_EQ(compute::test::named(kernels, "neon/fp16/fma").needs.name, features::neon_fp16.name);
  EXPECT_EQ(compute::test::named(kernels, "neon/int8/dot").operations(), 32);
}

}  // namespace ullage::neon_test
