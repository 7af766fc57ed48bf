// SPDX-License-Identifier: Apache-2.0
// The arithmetic the kernels are held against, by hand.
#include "compute/reference.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace ullage::reference_test {

using namespace compute;

TEST(ComputeReference, IntegersWrap) {
  EXPECT_EQ((step<std::uint8_t, Operation::add>(200, 0, 100)), 44);
  EXPECT_EQ((step<std::uint16_t, Operation::multiply>(0xffff, 0, 0xffff)), 1);
  EXPECT_EQ((step<std::uint32_t, Operation::multiply>(0x80000001U, 0, 3)), 0x80000003U);
}

TEST(ComputeReference, FusedIsRoundedOnce) {
  const double a = 1 + 0x1p-30;
  EXPECT_EQ((step<double, Operation::fma>(-1.0, a, a)), 0x1p-29 + 0x1p-60);  // the square alone loses its last bit
  const Half b = to_half(1 + 0x1p-6);
  EXPECT_EQ(to_double(step<Half, Operation::fma>(to_half(-1.0), b, b)), 0x1p-5 + 0x1p-12);
}

TEST(ComputeReference, StepsAlternateBetweenTheTwoOperands) {
  const auto data = std::make_unique<KernelData>();
  store<std::uint32_t>(data->b[0], 0, 10);
  store<std::uint32_t>(data->b[1], 0, 1);
  store<std::uint32_t>(data->seeds, 0, 100);
  store<std::uint32_t>(data->seeds, 4, 200);  // the second chain, 16 bytes on
  Accumulators expected{};
  reference_lanes<std::uint32_t, Operation::add>(*data, 1, 16, 2, 3, expected);
  EXPECT_EQ(load<std::uint32_t>(expected, 0), 121U);
  EXPECT_EQ(load<std::uint32_t>(expected, 4), 221U);
}

TEST(ComputeReference, DotsTakeNeighboursAndSigns) {
  const auto data = std::make_unique<KernelData>();
  for (std::size_t i = 0; i < 8; ++i) {
    store<std::uint8_t>(data->a, i, 255);
    store<std::int8_t>(data->b[0], i, static_cast<std::int8_t>(i < 4 ? -1 : 2));
  }
  Accumulators expected{};
  reference_dots<std::uint8_t, std::int8_t>(*data, 8, 1, 1, expected);
  EXPECT_EQ(load<std::int32_t>(expected, 0), -4 * 255);
  EXPECT_EQ(load<std::int32_t>(expected, 1), 8 * 255);
}

TEST(ComputeReference, DiceAreTheSameEverywhere) {
  Dice dice(0);
  EXPECT_EQ(dice.bits(), 0xe220a8397b1dcdafU);  // SplitMix64's first of seed 0
  for (int i = 0; i < 1000; ++i) {
    const double value = dice.between(0.5, 1.5);
    EXPECT_GE(value, 0.5);
    EXPECT_LT(value, 1.5);
    EXPECT_LE(std::abs(dice.integer(-3, 3)), 3);
  }
}

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

}  // namespace ullage::reference_test
