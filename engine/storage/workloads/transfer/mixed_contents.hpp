// SPDX-License-Identifier: Apache-2.0
// Contents of pieces of the transfers that a dataset was written in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/payload.hpp"

namespace ullage {

/// Pure. Pieces begin at a multiple of 512 bytes from the start of their transfer, and lie within it.
class MixedTransferContents final {
 public:
  /// The contents of what `writer` wrote with this payload.
  MixedTransferContents(const PayloadSpec& spec, std::uint64_t writer)
      : transfer_bytes_(spec.transfer_bytes), writer_(writer), payload_(spec) {}

  void fill(std::span<std::byte> piece, std::uint64_t offset_bytes) const;
  [[nodiscard]] Payload::Check check(std::span<const std::byte> piece, std::uint64_t offset_bytes);

 private:
  std::uint64_t transfer_bytes_;
  std::uint64_t writer_;
  Payload payload_;
  std::vector<std::byte> expected_;
};

}  // namespace ullage
