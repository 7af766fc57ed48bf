// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_contents.hpp"

#include <algorithm>
#include <cstring>

namespace ullage {

MixedTransferContents::MixedTransferContents(const PayloadSpec& spec, std::uint64_t writer)
    : spec_(spec), writer_(writer), payload_(spec), tags_(spec.run_key, spec.transfer_bytes) {
  const std::uint64_t transfers = payload_.can_retag() ? payload_.slots() : 1;
  bodies_.resize(transfers * spec.transfer_bytes);
  for (std::uint64_t i = 0; payload_.can_retag() && i < transfers; ++i)
    payload_.fill(transfer(i), writer_, i * spec.transfer_bytes);
}

std::span<std::byte> MixedTransferContents::transfer(std::uint64_t index) {
  return std::span(bodies_).subspan(index * spec_.transfer_bytes, spec_.transfer_bytes);
}

void MixedTransferContents::fill(std::span<std::byte> piece, std::uint64_t offset_bytes) {
  const std::uint64_t inside = offset_bytes % spec_.transfer_bytes;
  const std::uint64_t start = offset_bytes - inside;
  const std::uint64_t body = payload_.can_retag() ? payload_.slot_of(start) : 0;
  if (!payload_.can_retag()) payload_.fill(transfer(0), writer_, start);
  std::ranges::copy(transfer(body).subspan(inside, piece.size()), piece.begin());
  if (payload_.can_retag()) tags_.write(piece, {writer_, tags_.number_at(start) + inside / TagCoder::block_bytes});
}

/// What is wrong is explained by the payload, which knows whole transfers: this one with the piece that was found in
/// it.
Payload::Check MixedTransferContents::check(std::span<const std::byte> piece, std::uint64_t offset_bytes) {
  expected_.resize(piece.size());
  fill(expected_, offset_bytes);
  if (std::memcmp(expected_.data(), piece.data(), piece.size()) == 0) return {};
  const std::uint64_t inside = offset_bytes % spec_.transfer_bytes;
  expected_.resize(spec_.transfer_bytes);
  payload_.fill(expected_, writer_, offset_bytes - inside);
  std::ranges::copy(piece, expected_.begin() + static_cast<std::ptrdiff_t>(inside));
  return payload_.check(expected_, writer_, offset_bytes - inside);
}

}  // namespace ullage
