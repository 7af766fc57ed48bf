// SPDX-License-Identifier: Apache-2.0
#include "base/payload_fill.hpp"

#include <gtest/gtest.h>

#include "base/isa.hpp"
#include "base/payload.hpp"
#include "base/permutation.hpp"

namespace ullage::payload_fill_test {

constexpr std::size_t words_a_block = PayloadFill::block_bytes / sizeof(std::uint64_t);

std::vector<std::uint64_t> some_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint64_t> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = mix64(seed + i);
  return words;
}

/// The definition, one word at a time.
std::vector<std::uint64_t> one_by_one(const std::vector<std::uint64_t>& pool, const std::vector<std::uint64_t>& keys) {
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < keys.size() * words_a_block; ++i) words.push_back(pool[i] ^ keys[i / words_a_block]);
  return words;
}

TEST(PayloadFill, EveryWayMakesTheSameBytesAtAnyAddress) {
  std::size_t ways = 0;
  for (const PayloadFill& fill : Registry<PayloadFill>::instance().all()) {
    if (!fill.works_here()) continue;
    ++ways;
    for (const std::size_t blocks : {0U, 1U, 3U, 8U})
      for (const std::size_t shift : {0U, 8U, 24U}) {
        const auto pool = some_words(blocks * words_a_block, 1);
        const auto keys = some_words(blocks, 2);
        const auto expected = one_by_one(pool, keys);
        const auto length = static_cast<std::ptrdiff_t>(blocks * PayloadFill::block_bytes);
        std::vector<std::byte> memory(blocks * PayloadFill::block_bytes + 128, std::byte{0xee});
        fill.blocks(memory.data() + shift, std::as_bytes(std::span(pool)).data(), keys.data(), blocks);
        const auto begin = memory.begin() + static_cast<std::ptrdiff_t>(shift);
        EXPECT_TRUE(std::ranges::equal(std::as_bytes(std::span(expected)), std::span(begin, begin + length)))
            << fill.description.name << " " << blocks << " " << shift;
        const auto end = begin + length;
        EXPECT_TRUE(std::all_of(end, memory.end(), [](std::byte b) { return b == std::byte{0xee}; }))
            << fill.description.name << " wrote beyond its blocks";
      }
  }
  EXPECT_GE(ways, 1U);
}

TEST(PayloadFill, WidestIsTaken) {
  const PayloadFill& widest = widest_payload_fill();
  EXPECT_TRUE(widest.works_here());
  for (const PayloadFill& fill : Registry<PayloadFill>::instance().all())
    if (fill.works_here()) {
      EXPECT_LE(fill.vector_bytes, widest.vector_bytes);
    }
#if defined(__x86_64__)
  EXPECT_EQ(widest.vector_bytes > 16, cpu_has(features::avx2) || cpu_has(features::avx512f));
#endif
}

/// FNV-1a of some transfers. What a CPU of another kind writes has to be recognised here, and the other way round: if
/// this changes, so must Payload::version.
TEST(PayloadFill, ContentsAreThoseOfThisVersion) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint64_t transfer : {8UL, 520UL, 47008UL, 65536UL})
    for (const double ratio : {1.0, 2.0}) {
      std::vector<std::byte> bytes(transfer);
      Payload({.run_key = 42, .transfer_bytes = transfer, .compress_ratio = ratio}).fill(bytes, 3, 7 * transfer);
      for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3ULL;
    }
  EXPECT_EQ(Payload::version, 2);
  EXPECT_EQ(hash, 0xad10dffe02252874ULL);
}

}  // namespace ullage::payload_fill_test
