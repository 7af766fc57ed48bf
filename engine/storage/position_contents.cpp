// SPDX-License-Identifier: Apache-2.0
#include "storage/position_contents.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t position_unit_bytes = 4096;  // of the payload: a tag is never cut by its end

PayloadSpec position_payload(std::uint64_t key) {
  PayloadSpec spec;
  spec.run_key = key;
  spec.transfer_bytes = position_unit_bytes;
  return spec;
}

}  // namespace

PositionContents::PositionContents(std::uint64_t key) : payload_(position_payload(key)) {}

void PositionContents::fill(std::span<std::byte> bytes, std::uint64_t offset_bytes) const {
  payload_.fill(bytes, 0, offset_bytes);
}

Payload::Check PositionContents::check(std::span<const std::byte> bytes, std::uint64_t offset_bytes) const {
  return payload_.check(bytes, 0, offset_bytes);
}

}  // namespace ullage
