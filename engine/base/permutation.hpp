// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>

#include "base/std.hpp"

namespace ullage {

/// SplitMix64's finaliser: a bijection of 64 bits. Source: Steele, Lea, Flood, OOPSLA 2014, figure 15.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t value) noexcept {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// unmix64(mix64(x)) == x. The factors are the inverses of mix64's modulo 2^64; a shift is undone by repeating it.
[[nodiscard]] constexpr std::uint64_t unmix64(std::uint64_t value) noexcept {
  value = (value ^ (value >> 31) ^ (value >> 62)) * 0x319642b2d24d8ec3ULL;
  value = (value ^ (value >> 27) ^ (value >> 54)) * 0x96de1b173f119089ULL;
  value = value ^ (value >> 30) ^ (value >> 60);
  return value - 0x9e3779b97f4a7c15ULL;
}

/// A keyed bijection of [0, size) in O(1) memory: a 4-round Feistel network over the next even power of two, walked
/// until it falls inside (Black and Rogaway, CT-RSA 2002: cycle walking), at most 4 steps on average.
class Permutation final {
 public:
  Permutation(std::uint64_t size, std::uint64_t key) noexcept
      : size_(size), half_bits_(std::max(1, (static_cast<int>(std::bit_width(size > 1 ? size - 1 : 1)) + 1) / 2)) {
    for (std::uint64_t& round : keys_) {
      key = mix64(key);
      round = key;
    }
  }

  /// index < size.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    if (size_ <= 1) return 0;
    do {
      index = encrypt(index);
    } while (index >= size_);
    return index;
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  [[nodiscard]] std::uint64_t encrypt(std::uint64_t value) const noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (const std::uint64_t key : keys_) {
      const std::uint64_t next = left ^ (mix64(right ^ key) & mask);
      left = right;
      right = next;
    }
    return (left << half_bits_) | right;
  }

  std::uint64_t size_;
  int half_bits_;
  std::array<std::uint64_t, 4> keys_{};
};

/// FNV-1a, 64 bits, folded to a positive number; the same in every process, which std::hash need not be.
[[nodiscard]] constexpr std::int64_t stable_hash(std::string_view text) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return static_cast<std::int64_t>((hash ^ (hash >> 63)) & 0x7fffffffffffffffULL);
}

}  // namespace ullage
