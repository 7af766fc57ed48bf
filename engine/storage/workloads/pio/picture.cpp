// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/pio/picture.hpp"

#include <algorithm>

#include "base/json.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t drawn_ranks = 4;
constexpr std::uint64_t drawn_requests = 6;

PioShape drawn(PioShape shape) {
  shape.base_bytes = 0;
  shape.ranks = std::min(shape.ranks, drawn_ranks);
  shape.requests = drawn_requests;
  shape.tiles_x = 0;
  shape.levels = std::min<std::uint64_t>(shape.levels, 2);
  shape.inner_requests = 3;
  shape.gap_requests = std::min(shape.gap_requests, drawn_ranks);
  shape.variables = 3;
  shape.request_bytes = shape.kind == PioKind::mesh ? shape.record_bytes : shape.request_bytes;
  return shape;
}

}  // namespace

Json picture_of(const PioShape& shape) {
  const PioShape small = drawn(shape);
  Json ranks = Json::array();
  for (std::uint64_t rank = 0; rank < small.ranks; ++rank) {
    const PioPattern pattern(small, rank);
    Json pieces = Json::array();
    for (std::uint64_t i = 0; i < pattern.pieces(); ++i) {
      const PioPiece piece = pattern.piece(i);
      const auto in_requests = [&](std::uint64_t bytes) {
        return static_cast<double>(bytes) / static_cast<double>(small.request_bytes);
      };
      pieces.push_back({in_requests(piece.offset_bytes), in_requests(piece.length_bytes)});
    }
    ranks.push_back(std::move(pieces));
  }
  return ranks;
}

}  // namespace ullage
