// SPDX-License-Identifier: Apache-2.0
#include "base/payload_body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/permutation.hpp"

namespace ullage::payload_body_test {
namespace {

constexpr std::uint64_t filler = 0x1122334455667788;

std::vector<std::uint64_t> words_of(double ratio, std::uint64_t seed, std::size_t bytes = PayloadBody::unit_bytes) {
  std::vector<std::uint64_t> words(bytes / 8);
  PayloadBody(ratio, filler).fill(std::as_writable_bytes(std::span(words)), seed);
  return words;
}

/// The definition, one word at a time: what any CPU must produce, whatever its vectors.
std::vector<std::uint64_t> reference(std::uint64_t seed, std::size_t count) {
  std::array<std::uint64_t, 16> lanes{};
  for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] = mix64(seed + i) | 1;
  std::vector<std::uint64_t> words;
  while (words.size() < count)
    for (std::uint64_t& lane : lanes) {
      lane ^= lane << 13;
      lane ^= lane >> 7;
      lane ^= lane << 17;
      words.push_back(lane);
    }
  words.resize(count);
  return words;
}

TEST(PayloadBody, IsTheSameOnEveryCpu) {
  EXPECT_EQ(words_of(1, 42), reference(42, 512));
  EXPECT_EQ(words_of(1, 42, 1000), reference(42, 125));  // not whole rows
  EXPECT_EQ(words_of(1, 42, 8), reference(42, 1));
}

TEST(PayloadBody, SeedsGiveDifferentBodies) {
  const auto first = words_of(1, 1);
  const auto second = words_of(1, 2);
  std::size_t same = 0;
  for (const std::uint64_t word : first) same += static_cast<std::size_t>(std::ranges::count(second, word));
  EXPECT_LT(same, first.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_NE(first[i], second[i]);
}

TEST(PayloadBody, CompressibleBlocksEndInFiller) {
  const auto words = words_of(2, 1);
  for (std::size_t block = 0; block < 8; ++block) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(64 * block);
    const auto filled = std::count(begin, begin + 64, filler);
    EXPECT_EQ(std::count(begin + (64 - filled), begin + 64, filler), filled);
    EXPECT_GE(filled, 31);
    EXPECT_LE(filled, 34);
  }
}

TEST(PayloadBody, WritesNothingBeyondItsSpan) {
  for (const std::size_t bytes : {8UL, 16UL, 512UL, 520UL, 1000UL, 4088UL}) {
    for (const double ratio : {1.0, 2.0, 30.0}) {
      std::vector<std::byte> memory(bytes + 64, std::byte{0xee});
      PayloadBody(ratio, filler).fill(std::span(memory).first(bytes), 5);
      EXPECT_TRUE(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(bytes), memory.end(),
                              [](std::byte b) { return b == std::byte{0xee}; }));
    }
  }
}

}  // namespace
}  // namespace ullage::payload_body_test
