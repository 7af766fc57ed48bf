// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::avx2_test {

TEST(ComputeAvx2, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("avx2")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeAvx2, FusedOnesNeedMoreThanAvx2) {
  if (built_for() != Architecture::x86_64) GTEST_SKIP() << "of x86-64";
  const auto kernels = compute::test::kernels_of("avx2");
  EXPECT_EQ(compute::test::named(kernels, "avx2/fp64/fma").needs.name, features::fma3.name);
  EXPECT_EQ(compute::test::named(kernels, "avx2/fp64/fma").operations(), 8);
  EXPECT_EQ(compute::test::named(kernels, "avxvnni/int8/dot").operations(), 64);
  EXPECT_EQ(compute::test::named(kernels, "avx2/fp32/fma").variant(16), nullptr);  // 16 registers hold operands too
}

}  // namespace ullage::avx2_test
