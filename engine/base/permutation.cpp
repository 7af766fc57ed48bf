// SPDX-License-Identifier: Apache-2.0
#include "base/permutation.hpp"

#include <algorithm>
#include <bit>

namespace ullage {

Permutation::Permutation(std::uint64_t size, std::uint64_t key) noexcept
    : size_(size), half_bits_(std::max(1, (static_cast<int>(std::bit_width(size > 1 ? size - 1 : 1)) + 1) / 2)) {
  for (std::uint64_t& round : keys_) {
    key = mix64(key);
    round = key;
  }
}

std::uint64_t Permutation::encrypt(std::uint64_t value) const noexcept {
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

std::uint64_t Permutation::operator()(std::uint64_t index) const noexcept {
  if (size_ <= 1) return 0;
  do {
    index = encrypt(index);
  } while (index >= size_);
  return index;
}

}  // namespace ullage
