// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "storage/workloads/pio/pattern.hpp"

namespace ullage::pio_pattern_property_test {

PioShape some_shape() {
  PioShape shape;
  shape.kind = *rc::gen::element(PioKind::simple_strided, PioKind::nested_strided, PioKind::random_strided,
                                 PioKind::sequential_shared, PioKind::sequential_own, PioKind::segmented,
                                 PioKind::tiled, PioKind::flash, PioKind::mesh);
  shape.ranks = *rc::gen::inRange<std::uint64_t>(1, 9);
  shape.record_bytes = *rc::gen::inRange<std::uint64_t>(1, 6) * 8;
  shape.request_bytes =
      shape.record_bytes * *rc::gen::inRange<std::uint64_t>(1, 20);  // also a multiple of 8, for all others
  shape.levels = *rc::gen::inRange<std::uint64_t>(1, 4);
  shape.inner_requests = *rc::gen::inRange<std::uint64_t>(1, 4);
  shape.gap_requests = *rc::gen::inRange<std::uint64_t>(0, 5);
  shape.variables = *rc::gen::inRange<std::uint64_t>(1, 5);
  shape.requests = *rc::gen::inRange<std::uint64_t>(1, 9);
  if (shape.kind == PioKind::nested_strided)
    for (std::uint64_t k = 1; k < shape.levels; ++k) shape.requests *= shape.inner_requests;
  if (shape.kind == PioKind::flash) shape.requests *= shape.variables;
  shape.base_bytes = *rc::gen::inRange<std::uint64_t>(0, 40) * 8;
  shape.sorted = *rc::gen::arbitrary<bool>();
  shape.seed = *rc::gen::arbitrary<std::uint64_t>();
  return shape;
}

/// Counts how often each word of the file is a rank's.
void visit(const PioPattern& pattern, std::vector<int>& visits) {
  visits.resize(pattern.file_bytes() / 8);
  for (std::uint64_t i = 0; i < pattern.pieces(); ++i) {
    const PioPiece piece = pattern.piece(i);
    RC_ASSERT(piece.length_bytes % 8 == 0 && piece.length_bytes > 0);
    RC_ASSERT(piece.length_bytes <= pattern.unit_bytes());
    RC_ASSERT(piece.offset_bytes >= pattern.shape().base_bytes);
    RC_ASSERT(piece.offset_bytes + piece.length_bytes <= pattern.file_bytes());
    for (std::uint64_t at = 0; at < piece.length_bytes; at += 8) ++visits.at((piece.offset_bytes + at) / 8);
  }
}

RC_GTEST_PROP(PioPatternProperty, TheRanksOwnWhatTheyWriteOnceAndAllOfItButTheGaps, ()) {
  const PioShape shape = some_shape();
  std::vector<int> visits;
  std::uint64_t bytes = 0;
  const auto once = [&] {
    std::uint64_t owned = 0;
    for (std::size_t at = shape.base_bytes / 8; at < visits.size(); ++at) {
      RC_ASSERT(visits[at] == 1 || (visits[at] == 0 && shape.has_holes()));
      owned += static_cast<std::uint64_t>(visits[at]) * 8;
    }
    bytes += owned;
    visits.clear();
  };
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) {
    const PioPattern pattern(shape, rank, true);
    RC_ASSERT(pattern.pieces() <= pattern.most_pieces());
    visit(pattern, visits);
    if (shape.per_rank() || rank + 1 == shape.ranks) once();
  }
  RC_ASSERT(bytes == PioPattern(shape, 0, true).data_bytes());
}

RC_GTEST_PROP(PioPatternProperty, WhatIsReadIsWhatWasWritten, ()) {
  const PioShape shape = some_shape();
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) {
    const PioPattern reads(shape, rank);
    std::vector<int> visits;
    visit(reads, visits);
    if (shape.kind != PioKind::sequential_shared) {
      const PioPattern writes(shape, rank, true);
      RC_ASSERT(writes.pieces() == reads.pieces());
      for (std::uint64_t i = 0; i < reads.pieces(); ++i) RC_ASSERT(writes.piece(i) == reads.piece(i));
      continue;
    }
    for (std::size_t at = shape.base_bytes / 8; at < visits.size(); ++at) RC_ASSERT(visits[at] == 1);
  }
}

RC_GTEST_PROP(PioPatternProperty, NumbersAreThoseOfPlaces, ()) {
  const PioShape shape = some_shape();
  std::set<std::uint64_t> numbers;
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) {
    const PioPattern pattern(shape, rank, true);
    if (shape.per_rank()) numbers.clear();
    for (std::uint64_t i = 0; i < pattern.pieces(); ++i) RC_ASSERT(numbers.insert(pattern.piece(i).number).second);
  }
}

/// Pieces of a higher rank lie behind those of the same turn; with segments they lie behind all of them.
RC_GTEST_PROP(PioPatternProperty, RanksLieInTheirOrder, ()) {
  const PioShape shape = some_shape();
  const bool by_turn = shape.kind == PioKind::simple_strided || shape.kind == PioKind::nested_strided ||
                       shape.kind == PioKind::random_strided;
  for (std::uint64_t rank = 0; rank + 1 < shape.ranks; ++rank) {
    const PioPattern mine(shape, rank);
    const PioPattern next(shape, rank + 1);
    const auto end = [&](std::uint64_t i) { return mine.piece(i).offset_bytes + mine.piece(i).length_bytes; };
    for (std::uint64_t i = 0; by_turn && i < mine.pieces(); ++i) RC_ASSERT(end(i) == next.piece(i).offset_bytes);
    if (shape.kind == PioKind::segmented) RC_ASSERT(end(mine.pieces() - 1) == next.piece(0).offset_bytes);
    const bool same_row = shape.kind == PioKind::tiled && (rank + 1) % shape.row_of_tiles() != 0;
    for (std::uint64_t i = 0; same_row && i < mine.pieces(); ++i) RC_ASSERT(end(i) == next.piece(i).offset_bytes);
    const std::uint64_t blocks = mine.pieces() / shape.variables;
    if (shape.kind == PioKind::flash) RC_ASSERT(end(blocks - 1) == next.piece(0).offset_bytes);
  }
}

/// Returns where the `seen`-th byte of a view is.
std::uint64_t place_in(const FileView& view, std::uint64_t seen) {
  if (view.chunk_bytes > 0)
    return view.displacement_bytes +
           (seen / view.chunk_bytes * static_cast<std::uint64_t>(view.parts) + static_cast<std::uint64_t>(view.part)) *
               view.chunk_bytes +
           seen % view.chunk_bytes;
  if (view.pieces.empty()) return view.displacement_bytes + seen;
  std::uint64_t frame = 0;
  for (const mpi::FilePiece& piece : view.pieces) frame += piece.length_bytes;
  std::uint64_t inside = seen % frame;
  for (const mpi::FilePiece& piece : view.pieces) {
    if (inside < piece.length_bytes)
      return view.displacement_bytes + seen / frame * view.extent_bytes + piece.offset_bytes + inside;
    inside -= piece.length_bytes;
  }
  return ~std::uint64_t{0};
}

RC_GTEST_PROP(PioPatternProperty, AViewShowsThePiecesOneAfterTheOther, ()) {
  PioShape shape = some_shape();
  shape.sorted = true;
  const bool writes = *rc::gen::arbitrary<bool>();
  for (std::uint64_t rank = 0; rank < shape.ranks; ++rank) {
    const PioPattern pattern(shape, rank, writes);
    const PioView seen(pattern, rank);
    std::uint64_t end = 0;
    for (const mpi::FilePiece& piece : seen.pieces) {
      RC_ASSERT(piece.offset_bytes >= end);
      end = piece.offset_bytes + piece.length_bytes;
    }
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < pattern.pieces(); ++i) {
      const PioPiece piece = pattern.piece(i);
      RC_ASSERT(place_in(seen.view, at) == piece.offset_bytes);
      RC_ASSERT(place_in(seen.view, at + piece.length_bytes - 8) == piece.offset_bytes + piece.length_bytes - 8);
      at += piece.length_bytes;
    }
  }
}

}  // namespace ullage::pio_pattern_property_test
