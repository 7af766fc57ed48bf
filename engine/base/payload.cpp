// SPDX-License-Identifier: Apache-2.0
#include "base/payload.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include "base/hex.hpp"
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

/// This is what one block costs zstd -1 beside its random words: the tag, and one sequence (literals, then filler),
/// found by measurement.
constexpr double block_cost_bytes = TagCoder::tag_bytes + 3;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

void repeat_word(std::span<std::byte> bytes, std::uint64_t word) noexcept {
  for (std::size_t at = 0; at + word_bytes <= bytes.size(); at += word_bytes)
    std::memcpy(bytes.data() + at, &word, word_bytes);
}

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

/// Calls piece(bytes, first byte of their transfer, place in the transfer) for each transfer that a range touches.
template <class Bytes, class Piece>
void for_each_transfer(Bytes bytes, std::uint64_t offset_bytes, std::uint64_t transfer_bytes, const Piece& piece) {
  std::uint64_t inside = offset_bytes % transfer_bytes;
  for (std::size_t done = 0; done < bytes.size(); inside = 0) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size() - done, transfer_bytes - inside));
    piece(bytes.subspan(done, length), offset_bytes + done - inside, inside);
    done += length;
  }
}

std::size_t first_difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
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

void Payload::fill(std::span<std::byte> buffer, std::uint64_t writer, std::uint64_t offset_bytes) const {
  for_each_transfer(buffer, offset_bytes, spec_.transfer_bytes,
                    [&](std::span<std::byte> part, std::uint64_t transfer, std::uint64_t inside) {
                      fill_piece(part, writer, transfer, inside);
                    });
}

void Payload::fill_piece(std::span<std::byte> bytes, std::uint64_t writer, std::uint64_t transfer,
                         std::uint64_t inside) const {
  const TagCoder::Place first{writer, tags_.number_at(transfer)};
  UnitBuffer memory;
  for (std::uint64_t done = 0; done < bytes.size();) {
    const std::uint64_t index = (inside + done) / unit_bytes;
    const std::uint64_t skipped = inside + done - index * unit_bytes;
    const std::uint64_t whole = std::min(unit_bytes, spec_.transfer_bytes - index * unit_bytes);
    const auto part = bytes.subspan(done, std::min(bytes.size() - done, whole - skipped));
    const bool is_whole = part.size() == whole;
    const auto unit = is_whole ? part : std::span(memory).first(whole);
    fill_unit(unit, unit_at(first, transfer, index));
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
  for_each_transfer(buffer, offset_bytes, spec_.transfer_bytes,
                    [&](std::span<const std::byte> part, std::uint64_t transfer, std::uint64_t inside) {
                      check_piece(part, writer, transfer, inside, result);
                    });
  return result;
}

void Payload::check_piece(std::span<const std::byte> bytes, std::uint64_t writer, std::uint64_t transfer,
                          std::uint64_t inside, Check& result) const {
  const TagCoder::Place first{writer, tags_.number_at(transfer)};
  UnitBuffer memory;
  for (std::uint64_t done = 0; done < bytes.size();) {
    const std::uint64_t index = (inside + done) / unit_bytes;
    const std::uint64_t skipped = inside + done - index * unit_bytes;
    const auto unit = std::span(memory).first(std::min(unit_bytes, spec_.transfer_bytes - index * unit_bytes));
    const auto found = bytes.subspan(done, std::min(bytes.size() - done, unit.size() - skipped));
    const TagCoder::Place place = unit_at(first, transfer, index);
    fill_unit(unit, place);
    if (std::memcmp(unit.data() + skipped, found.data(), found.size()) != 0)
      check_blocks(unit, found, skipped, place, transfer + inside + done, result);
    done += found.size();
  }
}

/// `found` stands `skipped` bytes behind the start of `unit`, at `offset_bytes` of the file. A block of which it is a
/// part only is judged with the other bytes right.
void Payload::check_blocks(std::span<const std::byte> unit, std::span<const std::byte> found, std::uint64_t skipped,
                           const TagCoder::Place& first, std::uint64_t offset_bytes, Check& result) const {
  std::array<std::byte, tagged_bytes> memory;
  for (std::size_t at = 0; at < found.size();) {
    const std::size_t block = (skipped + at) / tagged_bytes;
    const auto right = unit.subspan(block * tagged_bytes, std::min(tagged_bytes, unit.size() - block * tagged_bytes));
    const std::size_t before = skipped + at - block * tagged_bytes;
    const auto given = found.subspan(at, std::min(found.size() - at, right.size() - before));
    const std::size_t bad = first_difference(right.subspan(before), given);
    if (bad < given.size()) {
      ++result.bad_blocks;
      if (!result.first) {
        const auto judged = std::span(memory).first(right.size());
        std::ranges::copy(right, judged.begin());
        std::ranges::copy(given, judged.begin() + static_cast<std::ptrdiff_t>(before));
        const TagCoder::Place place{first.writer, first.number + block};
        result.first = Mismatch{offset_bytes + at + bad, hex_of(right.subspan(before + bad), shown_bytes),
                                explain(right, judged, given.subspan(bad), place)};
      }
    }
    at += given.size();
  }
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
                             std::span<const std::byte> bad, const TagCoder::Place& place) const {
  const std::string bytes = hex_of(bad, shown_bytes);
  if (bad.size() >= shown_bytes && std::ranges::all_of(bad, [](std::byte b) { return b == std::byte{0}; }))
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
