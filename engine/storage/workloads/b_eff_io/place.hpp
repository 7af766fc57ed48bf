// SPDX-License-Identifier: Apache-2.0
// Where the calls of a pattern lie in a file, and the view through which a rank makes them. Pure.
#pragma once

#include <cstdint>

#include "storage/viewed_file.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"

namespace ullage {

/// Holds what all calls of a type have in common on one rank.
struct BEffIoFileShape {
  BEffIoType type = BEffIoType::scatter;
  bool shared_pointer = true;  // of type shared; false: it is done as scatter is
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;
  std::uint64_t segment_bytes = 0;  // of the segmented types

  /// The ranks' chunks alternate; else a rank's calls follow each other, in its own file or segment.
  [[nodiscard]] bool alternates() const { return type == BEffIoType::scatter || type == BEffIoType::shared; }
  [[nodiscard]] bool has_strided_view() const {
    return type == BEffIoType::scatter || (type == BEffIoType::shared && !shared_pointer);
  }
  [[nodiscard]] Pointer pointer() const;
};

/// The calls of one pattern, all of the same length.
struct BEffIoPlace {
  BEffIoFileShape shape;
  std::uint64_t displacement_bytes = 0;  // where the pattern begins: in the file, or in the segment
  std::uint64_t chunk_bytes = 0;
  std::uint64_t call_bytes = 0;  // a multiple of the chunk; of types but scatter the chunk itself

  /// Returns where byte `byte` of this rank's call number `call` lies in the file.
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t call, std::uint64_t byte = 0) const;
  /// So many calls of every rank take this much of the file, or of the segment: the next pattern begins after it.
  [[nodiscard]] std::uint64_t extent_bytes(std::uint64_t calls) const;
  [[nodiscard]] FileView view() const;
};

}  // namespace ullage
