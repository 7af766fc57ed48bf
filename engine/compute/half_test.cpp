// SPDX-License-Identifier: Apache-2.0
#include "compute/half.hpp"

#include <gtest/gtest.h>

namespace ullage::half_test {
namespace {

using compute::Half;
using compute::to_double;
using compute::to_half;

TEST(Half, KnownValues) {
  EXPECT_EQ(to_half(0.0).bits, 0x0000);
  EXPECT_EQ(to_half(-0.0).bits, 0x8000);
  EXPECT_EQ(to_half(1.0).bits, 0x3c00);
  EXPECT_EQ(to_half(-2.0).bits, 0xc000);
  EXPECT_EQ(to_half(65504.0).bits, 0x7bff);
  EXPECT_EQ(to_half(65519.9).bits, 0x7bff);
  EXPECT_EQ(to_half(65520.0).bits, 0x7c00);  // rounds to infinity
  EXPECT_EQ(to_half(0x1p-14).bits, 0x0400);
  EXPECT_EQ(to_half(0x1p-24).bits, 0x0001);
  EXPECT_EQ(to_half(1.0 / 3).bits, 0x3555);
}

TEST(Half, TiesGoToEven) {
  EXPECT_EQ(to_half(1 + 0x1p-11).bits, 0x3c00);
  EXPECT_EQ(to_half(1 + 3 * 0x1p-11).bits, 0x3c02);
  EXPECT_EQ(to_half(2 - 0x1p-12).bits, 0x4000);        // carries into the exponent
  EXPECT_EQ(to_half(0x1p-14 - 0x1p-26).bits, 0x0400);  // out of the denormals
  EXPECT_EQ(to_half(0x1p-25).bits, 0x0000);
}

TEST(Half, EveryFiniteValueComesBack) {
  for (unsigned bits = 0; bits <= 0xffff; ++bits) {
    if ((bits & 0x7c00U) == 0x7c00U) continue;  // infinities and NaNs
    const Half half{static_cast<std::uint16_t>(bits)};
    ASSERT_EQ(to_half(to_double(half)).bits, bits);
  }
}

TEST(Half, BfloatIsTheUpperHalfOfAFloat) {
  EXPECT_EQ(compute::to_bfloat(1.0F).bits, 0x3f80);
  EXPECT_EQ(compute::to_float(compute::to_bfloat(-127.0F)), -127.0F);
}

}  // namespace
}  // namespace ullage::half_test
