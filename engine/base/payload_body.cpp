// SPDX-License-Identifier: Apache-2.0
#include "base/payload_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/payload_tag.hpp"
#include "base/permutation.hpp"

namespace ullage {
namespace {

/// What one block costs zstd -1 beside its random words: the tag, and one sequence (literals, then filler), found by
/// measurement.
constexpr double block_cost_bytes = TagCoder::tag_bytes + 3;
constexpr std::size_t word_bytes = 8;

/// 128 bytes a step.
class Lanes final {
 public:
  static constexpr std::size_t row_bytes = 128;

  explicit Lanes(std::uint64_t seed) noexcept {
    std::uint64_t lane = seed;
    for (Pair& pair : pairs_)
      for (std::size_t i = 0; i < 2; ++i) pair[i] = mix64(lane++) | 1;  // a state of zeros would stay zeros
  }

  void rows(std::byte* to, std::size_t count) noexcept {
    auto pairs = pairs_;
    for (std::size_t r = 0; r < count; ++r, to += row_bytes) step(pairs, to);
    pairs_ = pairs;
  }

  /// Need not be whole rows; the rest of the last row is lost.
  void fill(std::span<std::byte> bytes) noexcept {
    const std::size_t whole = bytes.size() / row_bytes;
    const std::size_t rest = bytes.size() % row_bytes;
    rows(bytes.data(), whole);
    if (rest == 0) return;
    std::array<std::byte, row_bytes> last;
    rows(last.data(), 1);
    std::memcpy(bytes.data() + whole * row_bytes, last.data(), rest);
  }

 private:
  using Pair = std::uint64_t __attribute__((vector_size(16)));
  using State = std::array<Pair, row_bytes / sizeof(Pair)>;

  static void step(State& pairs, std::byte* to) noexcept {
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      Pair x = pairs[i];
      x ^= x << 13;
      x ^= x >> 7;
      x ^= x << 17;
      pairs[i] = x;
      std::memcpy(to + i * sizeof(Pair), &x, sizeof(Pair));
    }
  }
  State pairs_;
};

void repeat_word(std::span<std::byte> bytes, std::uint64_t word) noexcept {
  for (std::size_t at = 0; at + word_bytes <= bytes.size(); at += word_bytes)
    std::memcpy(bytes.data() + at, &word, word_bytes);
}

}  // namespace

std::size_t PayloadBody::random_words(std::size_t index, std::size_t block_bytes) const noexcept {
  const auto length = static_cast<double>(block_bytes);
  const double words = std::max(0.0, (length / compress_ratio_ - block_cost_bytes) / static_cast<double>(word_bytes));
  const auto upto = [&](std::size_t blocks) {
    return static_cast<std::size_t>(std::llround(words * static_cast<double>(blocks)));
  };
  return std::min(upto(index + 1) - upto(index), block_bytes / word_bytes - 1);
}

void PayloadBody::fill(std::span<std::byte> unit, std::uint64_t seed) const noexcept {
  Lanes lanes(seed);
  if (compress_ratio_ <= 1) {
    lanes.fill(unit);
    return;
  }
  for (std::size_t index = 0, at = 0; at < unit.size(); ++index, at += TagCoder::block_bytes) {
    const auto block = unit.subspan(at, std::min<std::size_t>(TagCoder::block_bytes, unit.size() - at));
    const std::size_t random = TagCoder::tag_bytes + random_words(index, block.size()) * word_bytes;
    lanes.fill(block.first(random));
    repeat_word(block.subspan(random), filler_);
  }
}

}  // namespace ullage
