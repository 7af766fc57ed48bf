// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace ullage {

inline constexpr std::size_t b_eff_size_count = 21;
inline constexpr std::uint64_t b_eff_middle_bytes = 4096;  // up to here lengths double

/// 1 B, 2 B ... 4 KiB, then eight more up to `lmax_bytes` >= 4 KiB in equal ratios.
[[nodiscard]] std::array<std::uint64_t, b_eff_size_count> b_eff_sizes(std::uint64_t lmax_bytes);

/// Returns how many times the length before size `index` >= 1 that one is, before rounding.
[[nodiscard]] double b_eff_growth(std::uint64_t lmax_bytes, std::size_t index);

}  // namespace ullage
