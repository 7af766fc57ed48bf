// SPDX-License-Identifier: Apache-2.0
#include "storage/position_contents.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/hex.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t position_unit_bytes = 4096;  // of the payload: a tag is never cut by its end

PayloadSpec position_payload(std::uint64_t key) {
  PayloadSpec spec;
  spec.run_key = key;
  spec.transfer_bytes = position_unit_bytes;
  return spec;
}

/// Calls part(bytes, first byte of its unit, place in the unit) for each unit that a range touches.
template <class Bytes, class Part>
void for_each_unit(Bytes bytes, std::uint64_t offset_bytes, const Part& part) {
  for (std::size_t done = 0; done < bytes.size();) {
    const std::uint64_t at = offset_bytes + done;
    const std::uint64_t inside = at % position_unit_bytes;
    const auto length =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size() - done, position_unit_bytes - inside));
    part(bytes.subspan(done, length), at - inside, inside);
    done += length;
  }
}

/// A part is judged within its unit, whose other bytes are right; what was never written reads as zeros.
void say_if_unwritten(std::span<const std::byte> part, std::uint64_t offset_bytes, Mismatch& first) {
  constexpr std::size_t shown_bytes = 8;
  const auto rest = part.subspan(static_cast<std::size_t>(first.offset_bytes - offset_bytes));
  const auto block = rest.first(std::min<std::size_t>(rest.size(), TagCoder::block_bytes));
  if (block.size() >= shown_bytes && std::ranges::all_of(block, [](std::byte b) { return b == std::byte{0}; }))
    first.found = hex_of(block, shown_bytes) + " (never written: zeros)";
}

}  // namespace

PositionContents::PositionContents(std::uint64_t key) : payload_(position_payload(key)) {}

void PositionContents::fill(std::span<std::byte> bytes, std::uint64_t offset_bytes) const {
  for_each_unit(bytes, offset_bytes, [this](std::span<std::byte> part, std::uint64_t unit, std::uint64_t inside) {
    payload_.fill(part, 0, unit, inside);
  });
}

Payload::Check PositionContents::check(std::span<const std::byte> bytes, std::uint64_t offset_bytes) const {
  Payload::Check all;
  std::array<std::byte, position_unit_bytes> memory;
  const auto look = [&](std::span<const std::byte> part, std::uint64_t unit, std::uint64_t inside) {
    std::span<const std::byte> whole = part;
    if (part.size() < memory.size()) {
      payload_.fill(memory, 0, unit);
      const auto place = std::span(memory).subspan(inside, part.size());
      if (std::memcmp(place.data(), part.data(), part.size()) == 0) return;
      std::ranges::copy(part, place.begin());
      whole = memory;
    }
    Payload::Check checked = payload_.check(whole, 0, unit);
    all.bad_blocks += checked.bad_blocks;
    if (all.first || !checked.first) return;
    say_if_unwritten(part, unit + inside, *checked.first);
    all.first = std::move(checked.first);
  };
  for_each_unit(bytes, offset_bytes, look);
  return all;
}

}  // namespace ullage
