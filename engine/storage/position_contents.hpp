// SPDX-License-Identifier: Apache-2.0
// Data that follow from where in a file they lie, whoever writes them: ranks whose parts overlap write the same bytes
// there, so what is read back can be checked whichever of them came last.
#pragma once

#include "base/payload.hpp"
#include "base/std.hpp"

namespace ullage {

inline constexpr std::uint64_t position_unit_bytes = 4096;  // of the payload: a tag is never cut by its end

inline PayloadSpec position_payload(std::uint64_t key) {
  return {.run_key = key, .transfer_bytes = position_unit_bytes};
}

/// Pure. Ranges may begin and end at any byte.
class PositionContents final {
 public:
  explicit PositionContents(std::uint64_t key) : payload_(position_payload(key)) {}

  /// The bytes that lie at `offset_bytes` of the file.
  void fill(std::span<std::byte> bytes, std::uint64_t offset_bytes) const { payload_.fill(bytes, 0, offset_bytes); }

  /// Bad 512-byte blocks of the file among these bytes, and the first bad byte.
  [[nodiscard]] Payload::Check check(std::span<const std::byte> bytes, std::uint64_t offset_bytes) const {
    return payload_.check(bytes, 0, offset_bytes);
  }

 private:
  Payload payload_;
};

}  // namespace ullage
