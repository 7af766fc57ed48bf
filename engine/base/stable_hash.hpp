// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace ullage {

/// FNV-1a, 64 bits, folded to a positive number; the same in every process, which std::hash need not be.
[[nodiscard]] constexpr std::int64_t stable_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<std::int64_t>((hash ^ (hash >> 63)) & 0x7fffffffffffffffULL);
}

}  // namespace ullage
