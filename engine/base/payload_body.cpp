// SPDX-License-Identifier: Apache-2.0
#include "base/payload_body.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/payload_tag.hpp"
#include "base/permutation.hpp"

namespace ullage {
namespace {

/// This is what one block costs zstd -1 beside its random words: the tag, and one sequence (literals, then filler),
/// found by measurement.
constexpr double block_cost_bytes = TagCoder::tag_bytes + 3;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

void repeat_word(std::span<std::byte> bytes, std::uint64_t word) noexcept {
  for (std::size_t at = 0; at + word_bytes <= bytes.size(); at += word_bytes)
    std::memcpy(bytes.data() + at, &word, word_bytes);
}

}  // namespace

static_assert(PayloadFill::block_bytes == TagCoder::block_bytes);

PayloadBody::PayloadBody(double compress_ratio, std::uint64_t key, const PayloadFill& fill) noexcept
    : compress_ratio_(compress_ratio), filler_(mix64(key)), blocks_(fill.blocks) {
  for (std::size_t i = 0; i < pool_.size(); ++i)
    if (i % words_a_block != 0) pool_[i] = mix64(filler_ + i);
}

std::size_t PayloadBody::random_words(std::size_t index, std::size_t block_bytes) const noexcept {
  const auto length = static_cast<double>(block_bytes);
  const double words = std::max(0.0, (length / compress_ratio_ - block_cost_bytes) / static_cast<double>(word_bytes));
  const auto upto = [&](std::size_t blocks) {
    return static_cast<std::size_t>(std::llround(words * static_cast<double>(blocks)));
  };
  return std::min(upto(index + 1) - upto(index), block_bytes / word_bytes - 1);
}

void PayloadBody::fill_words(std::span<std::byte> bytes, std::size_t index, std::uint64_t tag) const noexcept {
  const std::uint64_t* pool = pool_.data() + index * words_a_block;
  for (std::size_t i = 0; i < bytes.size() / word_bytes; ++i) {
    const std::uint64_t word = pool[i] ^ tag;
    std::memcpy(bytes.data() + i * word_bytes, &word, word_bytes);
  }
}

void PayloadBody::fill(std::span<std::byte> unit, const Tags& tags) const noexcept {
  const bool is_random = compress_ratio_ <= 1;
  const std::size_t whole = is_random ? unit.size() / TagCoder::block_bytes : 0;
  blocks_(unit.data(), std::as_bytes(std::span(pool_)).data(), tags.data(), whole);
  for (std::size_t index = whole, at = whole * TagCoder::block_bytes; at < unit.size();
       ++index, at += TagCoder::block_bytes) {
    const auto block = unit.subspan(at, std::min<std::size_t>(TagCoder::block_bytes, unit.size() - at));
    const std::size_t random =
        is_random ? block.size() : TagCoder::tag_bytes + random_words(index, block.size()) * word_bytes;
    fill_words(block.first(random), index, tags[index]);
    repeat_word(block.subspan(random), filler_);
  }
}

}  // namespace ullage
