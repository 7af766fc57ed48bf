// SPDX-License-Identifier: Apache-2.0
#include "base/payload_body.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/permutation.hpp"

namespace ullage::payload_body_test {
namespace {

constexpr std::uint64_t key = 0x1122334455667788;
constexpr std::uint64_t filler = mix64(key);

PayloadBody::Tags tags_from(std::uint64_t seed) {
  PayloadBody::Tags tags;
  for (std::size_t i = 0; i < tags.size(); ++i) tags[i] = mix64(seed * 1000 + i);
  return tags;
}

std::vector<std::uint64_t> words_of(double ratio, std::uint64_t seed, std::size_t bytes = PayloadBody::unit_bytes,
                                    const PayloadFill& fill = widest_payload_fill()) {
  std::vector<std::uint64_t> words(bytes / 8);
  PayloadBody(ratio, key, fill).fill(std::as_writable_bytes(std::span(words)), tags_from(seed));
  return words;
}

/// The definition, one word at a time: what any CPU must produce, whatever its vectors.
std::vector<std::uint64_t> reference(std::uint64_t seed, std::size_t count) {
  const PayloadBody::Tags tags = tags_from(seed);
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < count; ++i) words.push_back((i % 64 == 0 ? 0 : mix64(filler + i)) ^ tags[i / 64]);
  return words;
}

TEST(PayloadBody, IsTheSameOnEveryCpu) {
  for (const PayloadFill& fill : Registry<PayloadFill>::instance().all()) {
    if (!fill.works_here()) continue;
    EXPECT_EQ(words_of(1, 42, 4096, fill), reference(42, 512)) << fill.description.name;
    EXPECT_EQ(words_of(1, 42, 1000, fill), reference(42, 125)) << fill.description.name;  // not whole blocks
    EXPECT_EQ(words_of(1, 42, 8, fill), reference(42, 1)) << fill.description.name;
    EXPECT_EQ(words_of(3, 42, 4096, fill), words_of(3, 42)) << fill.description.name;
  }
}

TEST(PayloadBody, BeginsEachBlockWithItsTag) {
  const PayloadBody::Tags tags = tags_from(5);
  for (const double ratio : {1.0, 2.0, 30.0}) {
    const auto words = words_of(ratio, 5);
    for (std::size_t block = 0; block < tags.size(); ++block) EXPECT_EQ(words[64 * block], tags[block]) << ratio;
  }
}

TEST(PayloadBody, OtherTagsGiveOtherWordsEverywhere) {
  const auto first = words_of(1, 1);
  const auto second = words_of(1, 2);
  std::vector<std::uint64_t> all = first;
  all.insert(all.end(), second.begin(), second.end());
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
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
      PayloadBody(ratio, key).fill(std::span(memory).first(bytes), tags_from(5));
      EXPECT_TRUE(std::all_of(memory.begin() + static_cast<std::ptrdiff_t>(bytes), memory.end(),
                              [](std::byte b) { return b == std::byte{0xee}; }));
    }
  }
}

}  // namespace
}  // namespace ullage::payload_body_test
