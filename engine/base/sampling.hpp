// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/permutation.hpp"

namespace ullage {

/// Whether number `n` of many is one of those looked into: one in 32, without a period, and the same ones every time.
[[nodiscard]] constexpr bool is_sampled(std::uint64_t n) noexcept { return (mix64(n) & 31U) == 0; }

}  // namespace ullage
