// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::portable_test {

TEST(ComputePortable, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("portable")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputePortable, RunEverywhere) {
  const auto kernels = compute::test::kernels_of("portable");
  EXPECT_GE(kernels.size(), 8U);
  for (const auto& kernel : kernels) EXPECT_FALSE(compute::why_missing_here(kernel)) << kernel.name();
}

}  // namespace ullage::portable_test
