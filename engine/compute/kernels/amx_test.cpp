// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/reference.hpp"
#include "compute/test_support.hpp"

namespace ullage::amx_test {

TEST(ComputeAmx, EveryVariantIsRightBitForBit) {
  if (compute::test::expect_all_right(compute::test::kernels_of("amx")) == 0)
    GTEST_SKIP() << "this machine has none of them";
}

/// A is one in its row 2 and column 5, B is 3 in its row 5 and column 7: so C is 3 in its row 2 and column 7.
TEST(ComputeAmx, ReferenceIsAProductOfMatrices) {
  if (built_for() != Architecture::x86_64) GTEST_SKIP() << "of x86-64";
  const auto kernels = compute::test::kernels_of("amx");
  const auto data = std::make_unique<compute::KernelData>();
  compute::store<std::int8_t>(data->a, 2 * 64 + 5, 1);
  compute::store<std::int8_t>(data->b[0], (5 / 4) * 64 + 7 * 4 + 5 % 4, 3);
  compute::Accumulators expected{};
  compute::test::named(kernels, "amx/int8/dot").reference(*data, 1, 10, expected);
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(compute::load<std::int32_t>(expected, i), i == 2 * 16 + 7 ? 30 : 0) << i;
}

TEST(ComputeAmx, BfloatReferenceIsAProductToo) {
  if (built_for() != Architecture::x86_64) GTEST_SKIP() << "of x86-64";
  const auto kernels = compute::test::kernels_of("amx");
  const auto data = std::make_unique<compute::KernelData>();
  compute::store(data->a, 2 * 32 + 5, compute::to_bfloat(5.0F));
  compute::store(data->b[0], (5 / 2) * 32 + 7 * 2 + 5 % 2, compute::to_bfloat(4.0F));
  compute::Accumulators expected{};
  compute::test::named(kernels, "amx/bf16/dot").reference(*data, 1, 10, expected);
  for (std::size_t i = 0; i < 256; ++i)
    EXPECT_EQ(compute::load<float>(expected, i), i == 2 * 16 + 7 ? 200.0F : 0.0F) << i;
}

}  // namespace ullage::amx_test
