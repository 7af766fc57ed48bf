// SPDX-License-Identifier: Apache-2.0
#include "base/payload_tag.hpp"

#include <algorithm>
#include <bit>

#include "base/permutation.hpp"

namespace ullage {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tags and bodies are the same bytes on every machine only in this order");

constexpr int number_bits = 42;
constexpr int writer_bits = 64 - number_bits;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << number_bits) - 1;
constexpr std::uint64_t writer_mask = (std::uint64_t{1} << writer_bits) - 1;

constexpr std::uint64_t pack(const TagCoder::Place& place) {
  return (place.writer & writer_mask) << number_bits | (place.number & number_mask);
}

}  // namespace

TagCoder::TagCoder(std::uint64_t run_key, std::uint64_t transfer_bytes) noexcept
    : key_(mix64(run_key)),  // keys that differ in one bit must not make each other's neighbours

      transfer_bytes_(std::max<std::uint64_t>(transfer_bytes, 1)),
      tags_a_transfer_((transfer_bytes_ + block_bytes - 1) / block_bytes) {}

std::uint64_t TagCoder::key_near(const Place& place) const noexcept {
  const std::uint64_t above = (place.writer & ~writer_mask) | place.number >> number_bits;
  return above == 0 ? key_ : key_ ^ mix64(above);
}

std::uint64_t TagCoder::encode(const Place& place) const noexcept { return mix64(pack(place) ^ key_near(place)); }

TagCoder::Place TagCoder::decode(std::uint64_t tag, const Place& near) const noexcept {
  const std::uint64_t packed = unmix64(tag) ^ key_near(near);
  return {(near.writer & ~writer_mask) | packed >> number_bits, (near.number & ~number_mask) | (packed & number_mask)};
}

std::uint64_t TagCoder::number_at(std::uint64_t offset_bytes) const noexcept {
  return offset_bytes / transfer_bytes_ * tags_a_transfer_;
}

std::uint64_t TagCoder::offset_of(std::uint64_t number) const noexcept {
  return number / tags_a_transfer_ * transfer_bytes_ + number % tags_a_transfer_ * block_bytes;
}

void TagCoder::encode_run(std::span<std::uint64_t> tags, const Place& first) const noexcept {
  const std::uint64_t low = first.number & number_mask;
  if (low + tags.size() > number_mask) {  // what is above the mask changes within the run
    for (std::size_t i = 0; i < tags.size(); ++i) tags[i] = encode({first.writer, first.number + i});
    return;
  }
  const std::uint64_t rest = pack({first.writer, 0}) ^ key_near(first);
  for (std::size_t i = 0; i < tags.size(); ++i) tags[i] = mix64((low + i) ^ rest);
}

}  // namespace ullage
