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
constexpr std::uint64_t poison_word = 0x646c6c69666e7521;  // "!unfilld"
constexpr std::size_t shown_bytes = 8;

using UnitBuffer = std::array<std::byte, unit_bytes>;

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
    : spec_(spec), tags_(spec.run_key, spec.transfer_bytes), body_(spec.compress_ratio, mix64(~spec.run_key)) {}

std::uint64_t Payload::distinct_blocks() const noexcept {
  const double blocks = std::ceil(static_cast<double>(spec_.file_bytes) / static_cast<double>(unit_bytes));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::ceil(blocks / spec_.dedup_ratio)));
}

TagCoder::Place Payload::unit_at(const TagCoder::Place& transfer, std::uint64_t offset_bytes,
                                 std::uint64_t index) const noexcept {
  if (spec_.dedup_ratio <= 1) return {transfer.writer, transfer.number + index * blocks_a_unit};
  const std::uint64_t original = (offset_bytes / unit_bytes + index) % distinct_blocks();
  return {spec_.shared_file ? 0 : transfer.writer, original * blocks_a_unit};
}

void Payload::fill_unit(std::span<std::byte> bytes, const TagCoder::Place& first) const noexcept {
  PayloadBody::Tags tags;
  tags_.encode_run(tags, first);
  body_.fill(bytes, tags);
}

void Payload::fill(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes,
                   std::uint64_t inside) const {
  const TagCoder::Place transfer{writer, tags_.number_at(offset_bytes)};
  UnitBuffer memory;
  for (std::uint64_t done = 0; done < buffer.size();) {
    const std::uint64_t index = (inside + done) / unit_bytes;
    const std::uint64_t skipped = inside + done - index * unit_bytes;
    const std::uint64_t whole = std::min(unit_bytes, spec_.transfer_bytes - index * unit_bytes);
    const auto part = buffer.subspan(done, std::min(buffer.size() - done, whole - skipped));
    const bool is_whole = part.size() == whole;
    const auto unit = is_whole ? part : std::span(memory).first(whole);
    fill_unit(unit, unit_at(transfer, offset_bytes, index));
    if (!is_whole) std::ranges::copy(unit.subspan(skipped, part.size()), part.begin());
    done += part.size();
  }
}

void Payload::poison(std::span<std::byte> buffer) {
  for (std::size_t at = 0; at < buffer.size(); at += tagged_bytes)
    std::memcpy(buffer.data() + at, &poison_word, std::min<std::size_t>(sizeof poison_word, buffer.size() - at));
}

Payload::Check Payload::check(std::span<const std::byte> buffer, std::uint64_t writer,
                              std::uint64_t offset_bytes) const {
  Check result;
  const TagCoder::Place transfer{writer, tags_.number_at(offset_bytes)};
  UnitBuffer memory;
  for (std::uint64_t index = 0; index * unit_bytes < buffer.size(); ++index) {
    const std::size_t at = index * unit_bytes;
    const auto found = buffer.subspan(at, std::min<std::size_t>(unit_bytes, buffer.size() - at));
    const auto expected = std::span(memory).first(found.size());
    const TagCoder::Place unit = unit_at(transfer, offset_bytes, index);
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
      const TagCoder::Place place{unit.writer, unit.number + block};
      result.first = Mismatch{offset_bytes + at + start + bad, hex_of(right.subspan(bad), shown_bytes),
                              explain(right, given, bad, place)};
    }
  }
  return result;
}

bool Payload::body_is_of(std::span<const std::byte> block, const TagCoder::Place& place) const {
  const std::uint64_t in_transfer = place.number % tags_.tags_a_transfer();
  const TagCoder::Place transfer{place.writer, place.number - in_transfer};
  const std::uint64_t transfer_offset = place.number / tags_.tags_a_transfer() * spec_.transfer_bytes;
  const std::uint64_t index = in_transfer / blocks_a_unit;
  UnitBuffer memory;
  const auto unit = std::span(memory).first(std::min(unit_bytes, spec_.transfer_bytes - index * unit_bytes));
  fill_unit(unit, unit_at(transfer, transfer_offset, index));
  const auto body = std::span<const std::byte>(unit).subspan(in_transfer % blocks_a_unit * tagged_bytes);
  const std::size_t length = std::min(block.size(), body.size());
  if (length == TagCoder::tag_bytes) return block.size() == length;  // nothing but a tag: no body contradicts it
  return std::memcmp(block.data() + TagCoder::tag_bytes, body.data() + TagCoder::tag_bytes,
                     length - TagCoder::tag_bytes) == 0;
}

std::string Payload::name_of(const TagCoder::Place& place) const {
  const std::string offset = std::to_string(tags_.offset_of(place.number));
  if (spec_.dedup_ratio > 1 && spec_.shared_file) return "block or copy of offset " + offset;
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
