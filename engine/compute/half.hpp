// SPDX-License-Identifier: Apache-2.0
// The two 16-bit floating-point formats, as bits, for compilers and CPUs without them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace ullage::compute {

/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits = 0;
};

/// The upper half of an IEEE 754 binary32.
struct Bfloat {
  std::uint16_t bits = 0;
};

[[nodiscard]] inline double to_double(Half half) {
  const auto exponent = static_cast<int>((half.bits >> 10U) & 31U);
  const auto fraction = static_cast<int>(half.bits & 1023U);
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (half.bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

/// Rounded to nearest, ties to even, once.
[[nodiscard]] inline Half to_half(double value) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000U : 0U);
  const double magnitude = std::abs(value);
  if (std::isnan(magnitude)) return {static_cast<std::uint16_t>(sign | 0x7e00U)};
  if (magnitude >= 65520) return {static_cast<std::uint16_t>(sign | 0x7c00U)};
  int exponent = 0;
  (void)std::frexp(magnitude, &exponent);  // magnitude in [2^(exponent-1), 2^exponent)
  const int unit = magnitude < 0x1p-14 ? -24 : exponent - 11;
  const auto units = static_cast<unsigned>(std::nearbyint(std::ldexp(magnitude, -unit)));  // 2048 carries over
  const unsigned bits = unit == -24 ? units : (static_cast<unsigned>(unit + 24) << 10U) + units;
  return {static_cast<std::uint16_t>(sign | bits)};
}

[[nodiscard]] inline float to_float(Bfloat value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16U);
}

/// Takes values of at most eight significant bits only, since nothing is rounded.
[[nodiscard]] inline Bfloat to_bfloat(float value) {
  return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U)};
}

}  // namespace ullage::compute
