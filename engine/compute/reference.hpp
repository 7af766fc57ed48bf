// SPDX-License-Identifier: Apache-2.0
// Operands of the kernels, and the same arithmetic done plainly, to compare bit for bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/std.hpp"
#include "compute/kernel.hpp"

namespace ullage::compute {

// The two 16-bit floating-point formats, as bits, for compilers and CPUs without them.

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

/// SplitMix64: the same sequence everywhere.
class Dice final {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  [[nodiscard]] std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  [[nodiscard]] double between(double least, double most) {
    return least + (most - least) * (static_cast<double>(bits() >> 11U) * 0x1p-53);
  }
  /// least <= value <= most
  [[nodiscard]] int integer(int least, int most) {
    return least + static_cast<int>(bits() % static_cast<std::uint64_t>(most - least + 1));
  }

 private:
  std::uint64_t state_;
};

template <class T>
[[nodiscard]] T load(std::span<const std::byte> bytes, std::size_t index) {
  T value;
  std::memcpy(&value, &bytes[index * sizeof(T)], sizeof(T));
  return value;
}

template <class T>
void store(std::span<std::byte> bytes, std::size_t index, T value) {
  std::memcpy(&bytes[index * sizeof(T)], &value, sizeof(T));
}

template <class T>
[[nodiscard]] double as_double(T value) {
  if constexpr (std::is_same_v<T, Half>)
    return to_double(value);
  else
    return static_cast<double>(value);
}

template <class T>
[[nodiscard]] T rounded(double value) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(value);
  else
    return static_cast<T>(value);
}

/// One step of one lane. Integers wrap. A fused multiply-add is rounded once: for Half the sum is exact in a double, as
/// long as the values are near one, which they are.
template <class T, Operation operation>
[[nodiscard]] T step(T accumulator, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto left = static_cast<std::uint64_t>(accumulator);
    const auto right = static_cast<std::uint64_t>(b);
    return static_cast<T>(operation == Operation::add ? left + right : left * right);
  } else if constexpr (operation == Operation::add) {
    return static_cast<T>(accumulator + b);
  } else if constexpr (operation == Operation::multiply) {
    return static_cast<T>(accumulator * b);
  } else if constexpr (std::is_same_v<T, Half>) {
    return to_half(to_double(a) * to_double(b) + to_double(accumulator));
  } else {
    return std::fma(a, b, accumulator);
  }
}

template <class T, Operation operation>
void seed_integers(KernelData& data, std::size_t lanes, Dice& dice) {
  const std::uint64_t odd = operation == Operation::multiply ? 1 : 0;  // even factors would leave zeros
  for (std::size_t lane = 0; lane < lanes; ++lane)
    for (auto& b : data.b) store(b, lane, static_cast<T>(dice.bits() | odd));
  for (std::size_t i = 0; i < most_accumulator_bytes / sizeof(T); ++i)
    store(data.seeds, i, static_cast<T>(dice.bits() | 1U));
}

template <class T, Operation operation>
void seed_reals(KernelData& data, std::size_t lanes, Dice& dice) {
  constexpr bool is_product = operation == Operation::multiply;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const T there = rounded<T>(is_product ? dice.between(1.1, 1.9) : dice.between(0.25, 0.75));
    const double back = is_product ? (1 - 0x1p-12) / as_double(there) : -as_double(there) * (1 - 0x1p-10);
    store(data.a, lane, rounded<T>(dice.between(0.5, 1)));
    store(data.b[0], lane, there);
    store(data.b[1], lane, rounded<T>(back));
  }
  for (std::size_t i = 0; i < most_accumulator_bytes / sizeof(T); ++i)
    store(data.seeds, i, rounded<T>(dice.between(0.5, 1.5)));
}

/// Operands of `lanes` lanes. Floating-point chains go to and fro between two values near one, with a small drift, so
/// that no chain meets another, nothing grows out of bounds, and all bits of the operands take part.
template <class T, Operation operation>
void seed_lanes(KernelData& data, std::size_t lanes) {
  Dice dice(1);
  if constexpr (std::is_integral_v<T>)
    seed_integers<T, operation>(data, lanes, dice);
  else
    seed_reals<T, operation>(data, lanes, dice);
}

/// `stride`: bytes of one chain's register, of which the first `lanes` lanes count.
template <class T, Operation operation>
void reference_lanes(const KernelData& data, std::size_t lanes, std::size_t stride, int chains, std::uint64_t steps,
                     Accumulators& expected) {
  for (std::size_t chain = 0; chain < static_cast<std::size_t>(chains); ++chain)
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      const std::size_t place = chain * stride / sizeof(T) + lane;
      const T a = load<T>(data.a, lane);
      const std::array<T, 2> b{load<T>(data.b[0], lane), load<T>(data.b[1], lane)};
      T value = load<T>(data.seeds, place);
      for (std::uint64_t s = 0; s < steps; ++s) value = step<T, operation>(value, a, b[s % 2]);
      store(expected, place, value);
    }
}

/// Sums of products of `group` neighbours of A and B in each lane of a 32-bit accumulator.
template <class A, class B, class Sum>
[[nodiscard]] Sum dot_of(const KernelData& data, const Operand& b, std::size_t lane, std::size_t group) {
  Sum sum = 0;
  for (std::size_t i = lane * group; i < (lane + 1) * group; ++i)
    if constexpr (std::is_same_v<A, Bfloat>)
      sum += to_float(load<A>(data.a, i)) * to_float(load<B>(b, i));
    else
      sum += static_cast<Sum>(load<A>(data.a, i)) * static_cast<Sum>(load<B>(b, i));
  return sum;
}

/// Integers are random bits. Floating-point ones are whole numbers of eight bits whose sums stay below 2^24, so that
/// no order of additions and no intermediate rounding, which differ between CPUs, changes the result.
template <class A, class B>
void seed_dots(KernelData& data, std::size_t bytes) {
  Dice dice(2);
  for (std::size_t i = 0; i < bytes / sizeof(A); ++i)
    if constexpr (std::is_same_v<A, Bfloat>) {
      const int b = dice.integer(-126, 126);
      store(data.a, i, to_bfloat(static_cast<float>(dice.integer(-127, 127))));
      store(data.b[0], i, to_bfloat(static_cast<float>(b)));
      store(data.b[1], i, to_bfloat(static_cast<float>(i % 2 == 0 ? 1 - b : -b)));  // a small drift
    } else {
      store(data.a, i, static_cast<A>(dice.bits()));
      for (auto& b : data.b) store(b, i, static_cast<B>(dice.bits()));
    }
  for (std::size_t i = 0; i < most_accumulator_bytes / 4; ++i)
    if constexpr (std::is_same_v<A, Bfloat>)
      store(data.seeds, i, static_cast<float>(dice.integer(-32768, 32767)));
    else
      store(data.seeds, i, static_cast<std::uint32_t>(dice.bits()));
}

/// Integer sums wrap at 32 bits.
template <class A, class B>
void reference_dots(const KernelData& data, std::size_t stride, int chains, std::uint64_t steps,
                    Accumulators& expected) {
  using Sum = std::conditional_t<std::is_same_v<A, Bfloat>, float, std::int64_t>;
  using Stored = std::conditional_t<std::is_same_v<A, Bfloat>, float, std::uint32_t>;
  const std::size_t lanes = stride / 4;
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const Sum even = dot_of<A, B, Sum>(data, data.b[0], lane, 4 / sizeof(A));
    const Sum odd = dot_of<A, B, Sum>(data, data.b[1], lane, 4 / sizeof(A));
    for (std::size_t chain = 0; chain < static_cast<std::size_t>(chains); ++chain) {
      const std::size_t place = chain * lanes + lane;
      auto value = static_cast<Sum>(load<Stored>(data.seeds, place));
      for (std::uint64_t s = 0; s < steps; ++s) value += s % 2 == 0 ? even : odd;
      store(expected, place, static_cast<Stored>(value));
    }
  }
}

/// Fills in what follows from the type and the width of a register.
template <class T, Operation operation>
void set_lanes(Kernel& kernel, std::size_t lanes, std::size_t stride) {
  kernel.operation = operation;
  kernel.lanes = static_cast<int>(lanes);
  kernel.accumulator_bytes = stride;
  kernel.seed = [lanes](KernelData& data) { seed_lanes<T, operation>(data, lanes); };
  kernel.reference = [lanes, stride](const KernelData& data, int chains, std::uint64_t steps, Accumulators& expected) {
    reference_lanes<T, operation>(data, lanes, stride, chains, steps, expected);
  };
}

template <class A, class B>
void set_dots(Kernel& kernel, std::size_t stride) {
  kernel.operation = Operation::dot;
  kernel.lanes = static_cast<int>(stride / sizeof(A));
  kernel.accumulator_bytes = stride;
  kernel.seed = [stride](KernelData& data) { seed_dots<A, B>(data, stride); };
  kernel.reference = [stride](const KernelData& data, int chains, std::uint64_t steps, Accumulators& expected) {
    reference_dots<A, B>(data, stride, chains, steps, expected);
  };
}

}  // namespace ullage::compute
