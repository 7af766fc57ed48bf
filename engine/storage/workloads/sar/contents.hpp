// SPDX-License-Identifier: Apache-2.0
// What the files of workload `sar` hold: every piece can be told from all others, whoever has moved it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "storage/position_contents.hpp"

namespace ullage {

enum class SarData { raw, templates, images, records };

/// Pure. All pieces of a kind lie one behind the other; a position is a place among them.
class SarContents final {
 public:
  explicit SarContents(std::uint64_t run_key);

  void fill(SarData kind, std::span<std::byte> bytes, std::uint64_t position_bytes) const;
  /// The place of the first bad byte is a position.
  [[nodiscard]] Payload::Check check(SarData kind, std::span<const std::byte> bytes,
                                     std::uint64_t position_bytes) const;

 private:
  std::array<PositionContents, 4> contents_;
};

}  // namespace ullage
