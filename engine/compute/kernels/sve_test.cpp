// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/test_support.hpp"

namespace ullage::sve_test {

TEST(ComputeSve, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("sve")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

TEST(ComputeSve, LanesFollowTheLengthOfTheRegisters) {
  if (built_for() != Architecture::aarch64) GTEST_SKIP() << "of aarch64";
  const auto kernels = compute::test::kernels_of("sve");
  const auto& kernel = compute::test::named(kernels, "sve/fp64/fma");
  EXPECT_EQ(static_cast<std::size_t>(kernel.lanes) * 8, kernel.accumulator_bytes);
  EXPECT_GE(kernel.lanes, 2);
}

}  // namespace ullage::sve_test
