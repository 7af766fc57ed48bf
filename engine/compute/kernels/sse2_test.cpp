// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::sse2_test {

TEST(ComputeSse2, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("sse2")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeSse2, LaterInstructionsAreAskedForApart) {
  if (built_for() != Architecture::x86_64) GTEST_SKIP() << "of x86-64";
  const auto kernels = compute::test::kernels_of("sse2");
  EXPECT_EQ(compute::test::named(kernels, "sse2/fp64/add").needs.name, features::always.name);
  EXPECT_EQ(compute::test::named(kernels, "sse2/fp64/fma").needs.name, features::fma3.name);
  EXPECT_EQ(compute::test::named(kernels, "sse2/int32/multiply").needs.name, features::sse41.name);
  EXPECT_EQ(compute::test::named(kernels, "sse2/int8/add").lanes, 16);
}

}  // namespace ullage::sse2_test
