// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::avx512_test {

TEST(ComputeAvx512, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("avx512")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeAvx512, SlowMultipliesHaveMoreChains) {
  if (built_for() != Architecture::x86_64) GTEST_SKIP() << "of x86-64";
  const auto kernels = compute::test::kernels_of("avx512");
  EXPECT_EQ(compute::test::named(kernels, "avx512/fp64/fma").variant(0)->chains, 12);
  EXPECT_EQ(compute::test::named(kernels, "avx512/int32/multiply").variant(0)->chains, 20);
  EXPECT_EQ(compute::test::named(kernels, "avx512/int64/multiply").variant(0)->chains, 24);
  EXPECT_EQ(compute::test::named(kernels, "avx512fp16/fp16/fma").operations(), 64);
  EXPECT_EQ(compute::test::named(kernels, "avx512bf16/bf16/dot").operations(), 64);
}

}  // namespace ullage::avx512_test
