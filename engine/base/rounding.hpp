// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>

namespace ullage {

/// The smallest multiple of `multiple` (not 0) that is not below `value`.
template <std::unsigned_integral T>
[[nodiscard]] constexpr T round_up(T value, T multiple) noexcept {
  return (value + multiple - 1) / multiple * multiple;
}

}  // namespace ullage
