// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::scalar_test {

TEST(ComputeScalar, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("scalar")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeScalar, OneLaneEach) {
  const auto kernels = compute::test::kernels_of("scalar");
  for (const auto& kernel : kernels) EXPECT_EQ(kernel.lanes, 1) << kernel.name();
  const bool has_any = built_for() != Architecture::other;
  EXPECT_EQ(kernels.size(), has_any ? 10U : 0U);
}

}  // namespace ullage::scalar_test
