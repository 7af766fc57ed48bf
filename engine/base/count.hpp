// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>

#include "base/std.hpp"

namespace ullage {

/// The smallest multiple of `multiple` (not 0) that is not below `value`.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T round_up(T value, T multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

/// A number of bytes or things that does not wrap: sums and products beyond 2^64 - 2 are one value, which is more than
/// all others and stays so.
class Count final {
 public:
  constexpr Count() = default;
  constexpr Count(std::uint64_t value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor)

  friend constexpr Count operator+(Count a, Count b) noexcept {
    std::uint64_t sum = 0;
    return __builtin_add_overflow(a.value_, b.value_, &sum) ? Count(beyond) : Count(sum);
  }
  friend constexpr Count operator*(Count a, Count b) noexcept {
    std::uint64_t product = 0;
    return __builtin_mul_overflow(a.value_, b.value_, &product) ? Count(beyond) : Count(product);
  }
  constexpr Count& operator+=(Count other) noexcept { return *this = *this + other; }
  friend constexpr auto operator<=>(Count a, Count b) noexcept = default;

  [[nodiscard]] constexpr bool is_known() const noexcept { return value_ != beyond; }
  [[nodiscard]] constexpr std::uint64_t value() const noexcept { return value_; }
  /// The smallest multiple of `multiple` (not 0) that is not below it.
  [[nodiscard]] constexpr Count rounded_up(std::uint64_t multiple) const noexcept {
    const Count whole = Count(value_ / multiple + (value_ % multiple != 0 ? 1 : 0)) * multiple;
    return is_known() ? whole : *this;
  }
  /// `part` of `all` equal parts, rounded up; `part` <= `all`.
  [[nodiscard]] constexpr Count part(std::uint64_t part, std::uint64_t all) const noexcept {
    return is_known() ? Count(value_ / all * part + (value_ % all * part + all - 1) / all) : *this;
  }
  [[nodiscard]] std::string text() const { return is_known() ? std::to_string(value_) : "more than 18.4e18"; }

 private:
  static constexpr std::uint64_t beyond = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value_ = 0;
};

}  // namespace ullage
