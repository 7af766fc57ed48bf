// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/b_eff_io/place.hpp"

namespace ullage {

Pointer BEffIoFileShape::pointer() const {
  if (type == BEffIoType::shared && shared_pointer) return Pointer::ordered;
  return is_collective(type) ? Pointer::together : Pointer::individual;
}

std::uint64_t BEffIoPlace::offset_bytes(std::uint64_t call, std::uint64_t byte) const {
  if (!shape.alternates()) return shape.rank * shape.segment_bytes + displacement_bytes + call * call_bytes + byte;
  const std::uint64_t chunk = call * (call_bytes / chunk_bytes) + byte / chunk_bytes;
  return displacement_bytes + (chunk * shape.ranks + shape.rank) * chunk_bytes + byte % chunk_bytes;
}

std::uint64_t BEffIoPlace::extent_bytes(std::uint64_t calls) const {
  return calls * call_bytes * (shape.alternates() ? shape.ranks : 1);
}

FileView BEffIoPlace::view() const {
  if (shape.has_strided_view())
    return {displacement_bytes, chunk_bytes, static_cast<int>(shape.rank), static_cast<int>(shape.ranks)};
  const std::uint64_t own_part = is_segmented(shape.type) ? shape.rank * shape.segment_bytes : 0;
  return {own_part + displacement_bytes, 0, 0, 1};
}

}  // namespace ullage
