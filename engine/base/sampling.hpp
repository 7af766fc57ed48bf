// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/permutation.hpp"

namespace ullage {

/// Returns whether number `n` of many is one of those looked into: one in 32, without a period. Another `key` takes
/// others.
[[nodiscard]] constexpr bool is_sampled(std::uint64_t n, std::uint64_t key) noexcept {
  return (mix64(n ^ key) & 31U) == 0;
}

}  // namespace ullage
