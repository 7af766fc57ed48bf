// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_contents.hpp"

#include <algorithm>
#include <cstring>

namespace ullage {

void MixedTransferContents::fill(std::span<std::byte> piece, std::uint64_t offset_bytes) const {
  const std::uint64_t inside = offset_bytes % transfer_bytes_;
  payload_.fill(piece, writer_, offset_bytes - inside, inside);
}

/// What is wrong is explained by the payload, which knows whole transfers: this one with the piece that was found in
/// it.
Payload::Check MixedTransferContents::check(std::span<const std::byte> piece, std::uint64_t offset_bytes) {
  expected_.resize(piece.size());
  fill(expected_, offset_bytes);
  if (std::memcmp(expected_.data(), piece.data(), piece.size()) == 0) return {};
  const std::uint64_t inside = offset_bytes % transfer_bytes_;
  expected_.resize(transfer_bytes_);
  payload_.fill(expected_, writer_, offset_bytes - inside);
  std::ranges::copy(piece, expected_.begin() + static_cast<std::ptrdiff_t>(inside));
  return payload_.check(expected_, writer_, offset_bytes - inside);
}

}  // namespace ullage
