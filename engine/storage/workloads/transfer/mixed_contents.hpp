// SPDX-License-Identifier: Apache-2.0
// Contents of pieces of the transfers that a dataset was written in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/payload.hpp"

namespace ullage {

/// Pure once it is made. Pieces begin at a multiple of 512 bytes from the start of their transfer, and lie within it.
class MixedTransferContents final {
 public:
  /// The contents of what `writer` wrote with this payload. Takes the memory of one period of bodies, at most 48 MiB
  /// for transfers up to 16 MiB, or that of one transfer where blocks repeat.
  MixedTransferContents(const PayloadSpec& spec, std::uint64_t writer);

  void fill(std::span<std::byte> piece, std::uint64_t offset_bytes);
  [[nodiscard]] Payload::Check check(std::span<const std::byte> piece, std::uint64_t offset_bytes);

 private:
  [[nodiscard]] std::span<std::byte> transfer(std::uint64_t index);
  PayloadSpec spec_;
  std::uint64_t writer_;
  Payload payload_;
  TagCoder tags_;
  std::vector<std::byte> bodies_;
  std::vector<std::byte> expected_;
};

}  // namespace ullage
