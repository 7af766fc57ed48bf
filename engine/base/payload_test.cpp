// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <unordered_set>

#include "base/permutation.hpp"

namespace ullage::payload_test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t key = 0xfeedface;
constexpr std::uint64_t file_bytes = std::uint64_t{1} << 30;

PayloadSpec spec(std::uint64_t transfer_bytes, double compress = 1, double dedup = 1) {
  return {.run_key = key,
          .transfer_bytes = transfer_bytes,
          .compress_ratio = compress,
          .dedup_ratio = dedup,
          .file_bytes = file_bytes};
}

Bytes filled(const PayloadSpec& s, std::uint64_t writer, std::uint64_t offset) {
  Bytes bytes(s.transfer_bytes);
  Payload(s).fill(bytes, writer, offset);
  return bytes;
}

void expect_found(const PayloadSpec& s, const Bytes& bytes, std::uint64_t writer, std::uint64_t offset,
                  std::uint64_t bad_offset, std::string_view what) {
  const auto check = Payload(s).check(bytes, writer, offset);
  ASSERT_TRUE(check.first.has_value());
  EXPECT_EQ(check.first->offset_bytes, bad_offset);
  EXPECT_EQ(check.first->expected.size(), 16U);
  EXPECT_NE(check.first->expected, check.first->found.substr(0, 16));
  EXPECT_EQ(check.first->found.substr(16), " (" + std::string(what) + ")");
}

TEST(Payload, ComesBackWholeAtAnySize) {
  for (const std::uint64_t transfer : {8UL, 64UL, 512UL, 520UL, 4096UL, 47008UL, 65536UL, 1UL << 20})
    for (const double ratio : {1.0, 2.0, 8.0}) {
      const auto bytes = filled(spec(transfer, ratio), 3, 7 * transfer);
      EXPECT_EQ(Payload(spec(transfer, ratio)).check(bytes, 3, 7 * transfer).bad_blocks, 0U)
          << transfer << " " << ratio;
      EXPECT_GT(Payload(spec(transfer, ratio)).check(bytes, 4, 7 * transfer).bad_blocks, 0U);
      EXPECT_GT(Payload(spec(transfer, ratio)).check(bytes, 3, 8 * transfer).bad_blocks, 0U);
    }
}

TEST(Payload, PartsAreThoseOfTheWhole) {
  for (const std::uint64_t transfer : {8UL, 1000UL, 4096UL, 47008UL})
    for (const double dedup : {1.0, 2.0}) {
      if (dedup > 1 && transfer % 4096 != 0) continue;
      const auto s = spec(transfer, 2, dedup);
      const auto whole = filled(s, 2, 5 * transfer);
      for (std::uint64_t inside = 0; inside < transfer; inside += 504)
        for (const std::uint64_t most : {8UL, 504UL, 4096UL, 100'000UL}) {
          Bytes part(std::min(most, transfer - inside));
          Payload(s).fill(part, 2, 5 * transfer + inside);
          EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(inside)))
              << transfer << " from " << inside;
        }
    }
}

TEST(Payload, RangesAreThoseOfTheTransfersThatTheyTouch) {
  for (const std::uint64_t transfer : {520UL, 4096UL, 47008UL})
    for (const double dedup : {1.0, 2.0}) {
      if (dedup > 1 && transfer % 4096 != 0) continue;
      const auto s = spec(transfer, 2, dedup);
      Bytes file;
      for (std::uint64_t i = 0; i < 20; ++i) std::ranges::copy(filled(s, 2, i * transfer), std::back_inserter(file));
      for (const std::uint64_t from : {0UL, 8UL, 512UL, 3 * transfer, 4 * transfer + 500})
        for (const std::uint64_t length : {9UL, 512UL, transfer + 13, 8 * transfer}) {
          Bytes part(length);
          Payload(s).fill(part, 2, from);
          EXPECT_TRUE(std::equal(part.begin(), part.end(), file.begin() + static_cast<std::ptrdiff_t>(from)))
              << transfer << " from " << from;
          EXPECT_EQ(Payload(s).check(part, 2, from).bad_blocks, 0U) << transfer << " from " << from;
          part.back() ^= std::byte{1};
          const auto check = Payload(s).check(part, 2, from);
          EXPECT_EQ(check.bad_blocks, 1U);
          ASSERT_TRUE(check.first);
          EXPECT_EQ(check.first->offset_bytes, from + length - 1);
        }
    }
}

TEST(Payload, WrongBlocksOfAPieceAreCountedAndNamed) {
  const std::uint64_t offset = (1 << 20) + 8192;
  Bytes piece(4096);
  Payload(spec(1 << 20)).fill(piece, 1, offset);
  std::fill(piece.begin() + 1024, piece.begin() + 2048, std::byte{0});
  const auto check = Payload(spec(1 << 20)).check(piece, 1, offset);
  EXPECT_EQ(check.bad_blocks, 2U);
  ASSERT_TRUE(check.first);
  EXPECT_EQ(check.first->offset_bytes, offset + 1024);
  EXPECT_NE(check.first->found.find("never written"), std::string::npos) << check.first->found;
}

/// What zstd --long and deduplication by blocks of any alignment look for: a piece that was there before.
TEST(Payload, NoWordComesTwiceHoweverFarApart) {
  constexpr std::uint64_t transfer = 1 << 16;
  std::vector<std::uint64_t> words;
  for (const std::uint64_t offset : {0UL, 1UL << 16, 16UL << 20, 16UL << 30, 1UL << 40}) {
    const auto bytes = filled(spec(transfer), 1, offset / transfer * transfer);
    const std::size_t before = words.size();
    words.resize(before + transfer / 8);
    std::memcpy(words.data() + before, bytes.data(), transfer);
  }
  std::ranges::sort(words);
  EXPECT_EQ(std::ranges::adjacent_find(words), words.end());
}

TEST(Payload, NoTwoBlocksAreAlike) {
  std::unordered_set<std::string_view> blocks;
  std::vector<Bytes> transfers;
  for (std::uint64_t writer = 0; writer < 3; ++writer)
    for (std::uint64_t i = 0; i < 40; ++i) transfers.push_back(filled(spec(1 << 16, 8), writer, i << 16));
  for (const Bytes& bytes : transfers)
    for (std::size_t at = 0; at < bytes.size(); at += 512)
      blocks.emplace(reinterpret_cast<const char*>(bytes.data()) + at, 512);
  EXPECT_EQ(blocks.size(), 3U * 40 * 128);
}

TEST(Payload, NamesABlockThatBelongsElsewhere) {
  auto bytes = filled(spec(4096), 1, 8192);
  const auto other = filled(spec(4096), 3, 4096);
  std::copy_n(other.begin() + 1024, 512, bytes.begin() + 2048);
  expect_found(spec(4096), bytes, 1, 8192, 8192 + 2048, "block of rank 3, offset 5120");
}

TEST(Payload, NamesBlocksOfTransfersThatAreNoMultipleOf512) {
  const auto other = filled(spec(47008), 5, 2 * 47008);
  expect_found(spec(47008), other, 1, 47008, 47008, "block of rank 5, offset 94016");
  expect_found(spec(8), filled(spec(8), 5, 800), 1, 16, 16, "block of rank 5, offset 800");
}

TEST(Payload, NamesWhatWasNeverWritten) {
  auto bytes = filled(spec(4096, 4), 1, 0);
  std::fill_n(bytes.begin() + 512, 512, std::byte{0});
  expect_found(spec(4096, 4), bytes, 1, 0, 512, "never written: zeros");
  bytes = filled(spec(4096, 4), 1, 0);
  std::fill(bytes.begin() + 3800, bytes.begin() + 4096,
            std::byte{0});  // an end that was cut off, within a block's filler
  expect_found(spec(4096, 4), bytes, 1, 0, 3800, "never written: zeros");
}

TEST(Payload, NamesAnUnfilledBuffer) {
  auto bytes = filled(spec(4096), 1, 0);
  Payload::poison(bytes);
  EXPECT_EQ(Payload(spec(4096)).check(bytes, 1, 0).bad_blocks, 8U);
  expect_found(spec(4096), bytes, 1, 0, 0, "buffer not filled");
}

TEST(Payload, NamesDamageToTheRightBlock) {
  auto bytes = filled(spec(4096), 1, 4096);
  bytes[600] ^= std::byte{1};
  expect_found(spec(4096), bytes, 1, 4096, 4096 + 600, "right block, 1 of 512 bytes differ");
  bytes = filled(spec(4096), 1, 4096);
  bytes[512] ^= std::byte{0x80};  // in the tag
  expect_found(spec(4096), bytes, 1, 4096, 4096 + 512, "right block, 1 of 512 bytes differ");
}

TEST(Payload, SaysWhenItCannotKnow) {
  auto stale = spec(4096);
  stale.run_key = key + 1;
  expect_found(spec(4096), filled(stale, 1, 0), 1, 0, 0, "neither of this run nor of this write");
}

TEST(Payload, CountsEveryBadBlockAndReportsTheFirst) {
  auto bytes = filled(spec(1 << 16), 1, 0);
  for (const std::size_t at : {1000UL, 1001UL, 30000UL, 65535UL}) bytes[at] ^= std::byte{4};
  const auto check = Payload(spec(1 << 16)).check(bytes, 1, 0);
  EXPECT_EQ(check.bad_blocks, 3U);
  EXPECT_EQ(check.first->offset_bytes, 1000U);
}

/// Distinct 4 KiB blocks that `writers` leave in files of `blocks` blocks.
std::size_t distinct_blocks(PayloadSpec s, std::uint64_t writers, std::uint64_t blocks) {
  s.file_bytes = blocks * 4096;
  std::unordered_set<std::string> seen;
  for (std::uint64_t writer = 0; writer < writers; ++writer)
    for (std::uint64_t offset = 0; offset < s.file_bytes; offset += s.transfer_bytes) {
      if (s.shared_file && offset / s.transfer_bytes % writers != writer) continue;
      const auto bytes = filled(s, writer, offset);
      EXPECT_EQ(Payload(s).check(bytes, writer, offset).bad_blocks, 0U);
      for (std::size_t at = 0; at < bytes.size(); at += 4096)
        seen.emplace(reinterpret_cast<const char*>(bytes.data()) + at, 4096);
    }
  return seen.size();
}

TEST(Payload, DedupRatioIsBytesOverDistinctBlocks) {
  EXPECT_EQ(distinct_blocks(spec(16384, 1, 1), 2, 400), 800U);
  EXPECT_EQ(distinct_blocks(spec(16384, 1, 2), 1, 400), 200U);
  EXPECT_EQ(distinct_blocks(spec(16384, 2, 2.5), 1, 400), 160U);
  EXPECT_EQ(distinct_blocks(spec(4096, 1, 3), 1, 400), 134U);
  EXPECT_EQ(distinct_blocks(spec(4096, 1, 1000), 1, 400), 1U);
}

TEST(Payload, DedupCountsAcrossWritersOfOneFileOnly) {
  auto shared = spec(16384, 1, 2);
  shared.shared_file = true;
  EXPECT_EQ(distinct_blocks(shared, 2, 400), 200U);
  EXPECT_EQ(distinct_blocks(spec(16384, 1, 2), 2, 400), 400U);  // two files
}

TEST(Payload, DedupNamesTheOriginalOfABlock) {
  auto s = spec(4096, 1, 2);
  s.file_bytes = 100 * 4096;
  expect_found(s, filled(s, 1, 60 * 4096), 1, 0, 0, "block of rank 1, offset 40960");  // 60 is a copy of 10
  s.shared_file = true;
  expect_found(s, filled(s, 1, 60 * 4096), 1, 0, 0, "block or copy of offset 40960");
}

}  // namespace
}  // namespace ullage::payload_test

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

namespace ullage::payload_tag_test {
namespace {

constexpr std::uint64_t key = 0x123456789abcdef0;

TEST(PayloadTag, CanBeReadBack) {
  const TagCoder tags(key, 1 << 20);
  for (const std::uint64_t writer : {0UL, 3UL, 4'000'000UL})
    for (const std::uint64_t number : {0UL, 1UL, 77UL, (1UL << 42) - 1}) {
      const TagCoder::Place place{writer, number};
      EXPECT_EQ(tags.decode(tags.encode(place), {0, 0}), place);
    }
}

TEST(PayloadTag, BeyondItsBitsStillTellsPlacesApart) {
  const TagCoder tags(key, 4096);
  const TagCoder::Place near{1, (1UL << 42) + 5};
  EXPECT_NE(tags.encode(near), tags.encode({1, 5}));
  EXPECT_NE(tags.encode({(1UL << 22) + 1, 5}), tags.encode({1, 5}));
  EXPECT_NE(tags.encode({(1UL << 22) + 1, 5}), tags.encode(near));
  EXPECT_EQ(tags.decode(tags.encode({2, (1UL << 42) + 6}), near), (TagCoder::Place{2, (1UL << 42) + 6}));
}

TEST(PayloadTag, AnotherRunsTagDecodesToNothingNear) {
  const TagCoder mine(key, 4096);
  const TagCoder theirs(key + 1, 4096);
  for (std::uint64_t number = 0; number < 1000; ++number)
    EXPECT_NE(mine.decode(theirs.encode({0, number}), {0, number}), (TagCoder::Place{0, number}));
}

TEST(PayloadTag, NumbersRunThroughTransfersOfAnySize) {
  const TagCoder hard(key, 47008);
  EXPECT_EQ(hard.tags_a_transfer(), 92U);  // 91 whole blocks and one of 416 bytes
  EXPECT_EQ(hard.number_at(0), 0U);
  EXPECT_EQ(hard.number_at(2 * 47008), 184U);
  EXPECT_EQ(hard.offset_of(91), 91U * 512);
  EXPECT_EQ(hard.offset_of(92), 47008U);
  EXPECT_EQ(hard.offset_of(93), 47008U + 512);
  const TagCoder tiny(key, 8);
  EXPECT_EQ(tiny.number_at(80), 10U);
  EXPECT_EQ(tiny.offset_of(10), 80U);
}

TEST(PayloadTag, RunsOfTagsAreThoseOfTheirPlaces) {
  const TagCoder tags(key, 1032);
  constexpr std::uint64_t most = std::uint64_t{1} << 42;
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{30}, most - 9, most - 8, most - 3, most, 5 * most - 1}) {
    std::array<std::uint64_t, 8> run{};
    tags.encode_run(run, {(1UL << 22) + 7, first});
    for (std::size_t i = 0; i < run.size(); ++i) EXPECT_EQ(run.at(i), tags.encode({(1UL << 22) + 7, first + i})) << i;
  }
}

}  // namespace
}  // namespace ullage::payload_tag_test
