// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/log_index.hpp"

#include <algorithm>
#include <cstring>

#include "base/count.hpp"
#include "base/permutation.hpp"

namespace ullage {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::uint64_t word_at(std::span<const std::byte> place, std::uint64_t number) {
  std::uint64_t word = 0;
  std::memcpy(&word, place.data() + number * word_bytes, word_bytes);
  return word;
}

void put_word(std::span<std::byte> place, std::uint64_t number, std::uint64_t word) {
  std::memcpy(place.data() + number * word_bytes, &word, word_bytes);
}

/// Sums up the first `words` words, in their order.
std::uint64_t checksum_of(std::span<const std::byte> place, std::uint64_t words) {
  std::uint64_t sum = words;
  for (std::uint64_t i = 0; i < words; ++i) sum = mix64(sum ^ word_at(place, i));
  return sum;
}

}  // namespace

std::size_t LogIndex::bytes(std::uint64_t steps, std::size_t alignment) {
  return round_up(static_cast<std::size_t>(steps + 2) * word_bytes, alignment);
}

void LogIndex::encode(std::span<std::byte> place) const {
  std::ranges::fill(place, std::byte{0});
  put_word(place, 0, offsets_.size());
  for (std::size_t i = 0; i < offsets_.size(); ++i) put_word(place, i + 1, offsets_[i]);
  put_word(place, offsets_.size() + 1, checksum_of(place, offsets_.size() + 1));
}

std::expected<LogIndex, std::string> LogIndex::decode(std::span<const std::byte> place, std::uint64_t steps) {
  if (place.size() < bytes(steps, 1)) return std::unexpected("the index is cut short");
  const std::uint64_t found = word_at(place, 0);
  if (found != steps)
    return std::unexpected("the index is of " + std::to_string(found) + " steps, must be of " + std::to_string(steps));
  if (word_at(place, steps + 1) != checksum_of(place, steps + 1))
    return std::unexpected("the index does not match its checksum");
  LogIndex index(steps);
  for (std::uint64_t i = 0; i < steps; ++i) index.put(i, word_at(place, i + 1));
  return index;
}

}  // namespace ullage
