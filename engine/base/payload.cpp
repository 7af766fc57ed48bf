// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/hex.hpp"
#include "base/permutation.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t tagged_bytes = TagCoder::block_bytes;
constexpr std::uint64_t unit_bytes = PayloadBody::unit_bytes;
constexpr std::uint64_t blocks_a_unit = unit_bytes / tagged_bytes;
constexpr std::uint64_t period_bytes = 16 << 20;
constexpr std::uint64_t poison_word = 0x646c6c69666e7521;  // "!unfilld"
constexpr std::size_t shown_bytes = 8;

using UnitBuffer = std::array<std::byte, unit_bytes>;

bool is_prime(std::uint64_t value) {
  if (value < 2) return false;
  for (std::uint64_t divisor = 2; divisor * divisor <= value; ++divisor)
    if (value % divisor == 0) return false;
  return true;
}

/// Three at least where they fit: two would meet every even number of ranks.
std::uint64_t slots_for(std::uint64_t transfer_bytes) {
  if (transfer_bytes > period_bytes) return 2;
  std::uint64_t slots = std::clamp<std::uint64_t>(period_bytes / std::max<std::uint64_t>(transfer_bytes, 1), 3, 16381);
  while (!is_prime(slots)) --slots;
  return slots;
}

std::uint64_t tag_in(std::span<const std::byte> block) {
  std::uint64_t tag = 0;
  std::memcpy(&tag, block.data(), sizeof tag);
  return tag;
}

std::size_t first_difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

}  // namespace

Payload::Payload(const PayloadSpec& spec)
    : spec_(spec),
      slots_(slots_for(spec.transfer_bytes)),
      tags_(spec.run_key, spec.transfer_bytes),
      body_(spec.compress_ratio, mix64(~spec.run_key)) {}

bool Payload::can_retag() const noexcept { return spec_.dedup_ratio <= 1; }

std::uint64_t Payload::slots() const noexcept { return slots_; }

std::uint64_t Payload::slot_of(std::uint64_t offset_bytes) const noexcept {
  return offset_bytes / spec_.transfer_bytes % slots_;
}

std::uint64_t Payload::distinct_blocks() const noexcept {
  const double blocks = std::ceil(static_cast<double>(spec_.file_bytes) / static_cast<double>(unit_bytes));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(blocks / spec_.dedup_ratio)));
}

Payload::Unit Payload::unit_at(std::uint64_t writer, std::uint64_t offset_bytes, std::uint64_t index) const noexcept {
  const auto seed_of = [this](std::uint64_t of_writer, std::uint64_t position) {
    return mix64(mix64(spec_.run_key ^ mix64(of_writer)) + position);
  };
  if (can_retag()) {
    const std::uint64_t units_a_transfer = (spec_.transfer_bytes + unit_bytes - 1) / unit_bytes;
    const std::uint64_t position = slot_of(offset_bytes) * units_a_transfer + index;
    return {seed_of(writer, position), {writer, tags_.number_at(offset_bytes) + index * blocks_a_unit}};
  }
  const std::uint64_t original = (offset_bytes / unit_bytes + index) % distinct_blocks();
  const std::uint64_t author = spec_.shared_file ? 0 : writer;
  return {seed_of(author, original), {author, original * blocks_a_unit}};
}

void Payload::fill_unit(std::span<std::byte> bytes, const Unit& unit) const noexcept {
  body_.fill(bytes, unit.seed);
  tags_.write(bytes, unit.first);
}

void Payload::fill(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const {
  for (std::uint64_t index = 0; index * unit_bytes < buffer.size(); ++index) {
    const std::size_t at = index * unit_bytes;
    fill_unit(buffer.subspan(at, std::min<std::size_t>(unit_bytes, buffer.size() - at)),
              unit_at(writer, offset_bytes, index));
  }
}

void Payload::retag(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const {
  tags_.write(buffer, {writer, tags_.number_at(offset_bytes)});
}

void Payload::poison(std::span<std::byte> buffer) {
  for (std::size_t at = 0; at < buffer.size(); at += tagged_bytes)
    std::memcpy(buffer.data() + at, &poison_word, std::min<std::size_t>(sizeof poison_word, buffer.size() - at));
}

Payload::Check Payload::check(std::span<const std::byte> buffer, std::uint64_t writer,
                              std::uint64_t offset_bytes) const {
  Check result;
  UnitBuffer memory;
  for (std::uint64_t index = 0; index * unit_bytes < buffer.size(); ++index) {
    const std::size_t at = index * unit_bytes;
    const auto found = buffer.subspan(at, std::min<std::size_t>(unit_bytes, buffer.size() - at));
    const auto expected = std::span(memory).first(found.size());
    const Unit unit = unit_at(writer, offset_bytes, index);
    fill_unit(expected, unit);
    if (std::memcmp(expected.data(), found.data(), found.size()) == 0) continue;
    for (std::size_t block = 0; block * tagged_bytes < found.size(); ++block) {
      const std::size_t start = block * tagged_bytes;
      const std::size_t length = std::min<std::size_t>(tagged_bytes, found.size() - start);
      const auto right = std::span<const std::byte>(expected).subspan(start, length);
      const auto given = found.subspan(start, length);
      const std::size_t bad = first_difference(right, given);
      if (bad == length) continue;
      ++result.bad_blocks;
      if (result.first) continue;
      const TagCoder::Place place{unit.first.writer, unit.first.number + block};
      result.first = Mismatch{offset_bytes + at + start + bad, hex_of(right.subspan(bad), shown_bytes),
                              explain(right, given, bad, place)};
    }
  }
  return result;
}

bool Payload::body_is_of(std::span<const std::byte> block, const TagCoder::Place& place) const {
  const std::uint64_t in_transfer = place.number % tags_.tags_a_transfer();
  const std::uint64_t transfer_offset = place.number / tags_.tags_a_transfer() * spec_.transfer_bytes;
  const std::uint64_t index = in_transfer / blocks_a_unit;
  UnitBuffer memory;
  const auto unit = std::span(memory).first(std::min(unit_bytes, spec_.transfer_bytes - index * unit_bytes));
  fill_unit(unit, unit_at(place.writer, transfer_offset, index));
  const auto body = std::span<const std::byte>(unit).subspan(in_transfer % blocks_a_unit * tagged_bytes);
  const std::size_t length = std::min(block.size(), body.size());
  if (length == TagCoder::tag_bytes) return block.size() == length;  // nothing but a tag: no body contradicts it
  return std::memcmp(block.data() + TagCoder::tag_bytes, body.data() + TagCoder::tag_bytes,
                     length - TagCoder::tag_bytes) == 0;
}

std::string Payload::name_of(const TagCoder::Place& place) const {
  const std::string offset = std::to_string(tags_.offset_of(place.number));
  if (!can_retag() && spec_.shared_file) return "block or copy of offset " + offset;
  return "block of rank " + std::to_string(place.writer) + ", offset " + offset;
}

std::string Payload::explain(std::span<const std::byte> expected, std::span<const std::byte> found,
                             std::size_t first_bad, const TagCoder::Place& place) const {
  const std::string bytes = hex_of(found.subspan(first_bad), shown_bytes);
  const auto rest = found.subspan(first_bad);
  if (rest.size() >= shown_bytes && std::ranges::all_of(rest, [](std::byte b) { return b == std::byte{0}; }))
    return bytes + " (never written: zeros)";
  const std::uint64_t tag = tag_in(found);
  if (tag == poison_word) return bytes + " (buffer not filled)";
  const TagCoder::Place decoded = tags_.decode(tag, place);
  const bool inside = spec_.file_bytes == 0 || tags_.offset_of(decoded.number) < spec_.file_bytes;
  if (decoded != place && inside && body_is_of(found, decoded)) return bytes + " (" + name_of(decoded) + ")";
  const bool right_tag = decoded == place;
  const bool right_body =
      std::memcmp(expected.data() + sizeof tag, found.data() + sizeof tag, found.size() - sizeof tag) == 0;
  if (!right_tag && (!right_body || found.size() == sizeof tag))
    return bytes + " (neither of this run nor of this write)";
  std::size_t differing = 0;
  for (std::size_t i = 0; i < found.size(); ++i) differing += expected[i] != found[i];
  return bytes + " (right block, " + std::to_string(differing) + " of " + std::to_string(found.size()) +
         " bytes differ)";
}

}  // namespace ullage
