// SPDX-License-Identifier: Apache-2.0
// Hexadecimal digits, lower case: numbers and memory as people read them in error texts, and names made of them.
#pragma once

#include <random>

#include "base/std.hpp"

namespace ullage {

inline constexpr std::string_view hex_digits = "0123456789abcdef";

[[nodiscard]] inline bool is_hex(std::string_view text) noexcept {
  return text.find_first_not_of(hex_digits) == std::string_view::npos;
}

/// The lowest `bytes` bytes of a number, with leading zeros.
[[nodiscard]] inline std::string hex_of(std::uint64_t number, std::size_t bytes) {
  std::string text(2 * bytes, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4U) *digit = hex_digits[number & 15U];
  return text;
}

/// Up to `most` bytes, in the order in which they lie in memory.
[[nodiscard]] inline std::string hex_of(std::span<const std::byte> bytes, std::size_t most) {
  std::string text;
  for (const std::byte byte : bytes.first(std::min(bytes.size(), most)))
    text += hex_of(std::to_integer<std::uint64_t>(byte), 1);
  return text;
}

/// 128 random bits in hexadecimal.
[[nodiscard]] inline std::string new_nonce() {
  std::random_device device;
  std::string nonce;
  for (int word = 0; word < 4; ++word) nonce += hex_of(device(), 4);
  return nonce;
}

}  // namespace ullage
