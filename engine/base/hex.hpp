// SPDX-License-Identifier: Apache-2.0
// Numbers and memory as people read them in error texts: hexadecimal digits, lower case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ullage {

/// The lowest `bytes` bytes of a number, with leading zeros.
[[nodiscard]] inline std::string hex_of(std::uint64_t number, std::size_t bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text(2 * bytes, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U) *digit = digits[number & 15U];
  return text;
}

/// Up to `most` bytes, in the order in which they lie in memory.
[[nodiscard]] inline std::string hex_of(std::span<const std::byte> bytes, std::size_t most) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), most)))
    text += hex_of(std::to_integer<std::uint64_t>(byte), 1);
  return text;
}

}  // namespace ullage
