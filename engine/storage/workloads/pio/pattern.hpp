// SPDX-License-Identifier: Apache-2.0
// Spatial patterns of parallel programs as pure functions: which bytes of the file are piece i of rank r. No I/O, no
// clock, O(1) memory, and an offset costs no more on many ranks than on few.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/permutation.hpp"
#include "storage/viewed_file.hpp"
#include "storage/workloads/pio/list.hpp"

namespace ullage {

enum class PioKind {
  simple_strided,
  nested_strided,
  random_strided,
  sequential_shared,
  sequential_own,
  segmented,
  tiled,
  flash,
  mesh,
  listed,
  listed_own,
};

/// B: request_bytes, N: requests, P: ranks, h: base_bytes.
struct PioShape {
  PioKind kind = PioKind::simple_strided;
  std::uint64_t ranks = 1;
  std::uint64_t request_bytes = 64 << 10;
  std::uint64_t requests = 16;  // of a rank; of flash a rank has (r mod 3) x variables more
  std::uint64_t base_bytes = 0;
  std::uint64_t levels = 2;          // nested: of strides
  std::uint64_t inner_requests = 4;  // nested: of a level, before the next one's stride
  std::uint64_t gap_requests = 1;    // nested: nobody's, behind those of each level
  std::uint64_t tiles_x = 0;         // tiled: a row of tiles; 0: as square as the ranks allow
  std::uint64_t variables = 24;      // flash: arrays, one behind the other
  std::uint64_t record_bytes = 32;   // mesh: values of a vertex
  bool sorted = true;                // mesh: by vertex, else at random
  std::uint64_t seed = 1;            // random, mesh
  std::string list = {};             // listed: see pio_runs()

  [[nodiscard]] bool is_listed() const { return kind == PioKind::listed || kind == PioKind::listed_own; }
  /// Returns whether each rank has a file of its own.
  [[nodiscard]] bool per_rank() const { return kind == PioKind::sequential_own || kind == PioKind::listed_own; }
  /// Returns whether pieces have different lengths.
  [[nodiscard]] bool varies() const { return kind == PioKind::random_strided || is_listed(); }

  /// Tiles in a row.
  [[nodiscard]] std::uint64_t row_of_tiles() const {
    if (tiles_x > 0) return tiles_x;
    std::uint64_t rows = 1;
    for (std::uint64_t n = 1; n * n <= ranks; ++n)
      if (ranks % n == 0) rows = n;
    return ranks / rows;
  }

  /// Pieces that make a request: 1, of a mesh as many as records fit.
  [[nodiscard]] std::uint64_t pieces_a_request() const {
    return kind == PioKind::mesh ? request_bytes / record_bytes : 1;
  }
  /// Bytes that belong to nobody lie between pieces of the ranks.
  [[nodiscard]] bool has_holes() const {
    return is_listed() || (kind == PioKind::nested_strided && gap_requests > 0 && levels > 1);
  }
};

/// Contiguous bytes of the file. `number` is a bijection to where they are: data is made by it. Listed ones may
/// overlap: theirs is made by where they are themselves.
struct PioPiece {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t number = 0;
  [[nodiscard]] bool operator==(const PioPiece&) const = default;
};

inline constexpr std::uint64_t pio_word_bytes = 8;

/// Below `size`, which is below 2^32, without the cost of a division; its bias is below size / 2^32.
inline std::uint64_t below(std::uint64_t random, std::uint64_t size) { return ((random >> 32U) * size) >> 32U; }

inline std::uint64_t unit_of(const PioShape& shape) {
  const std::uint64_t words = shape.request_bytes / pio_word_bytes;
  switch (shape.kind) {
    case PioKind::random_strided:
      return shape.request_bytes + (words - 1) / 2 * 2 * pio_word_bytes;
    case PioKind::mesh:
      return shape.record_bytes;
    default:
      return shape.request_bytes;
  }
}

/// The sum of r mod 3 over the ranks below `rank`.
inline std::uint64_t remainders_before(std::uint64_t rank) { return rank / 3 * 3 + (rank % 3 == 2 ? 1 : 0); }

inline constexpr std::uint64_t drawn_ranks = 4;
inline constexpr std::uint64_t drawn_requests = 6;

inline PioShape drawn(PioShape shape) {
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

/// Knows what a rank writes, or reads, in its order. With h the base:
///   simple strided     h + (i P + r) B
///   nested strided     h + sum_k i_k S_k + r B, with S_1 = P B and S_(k+1) = inner S_k + gap B
///   random strided     from b(iP + r) to b(iP + r + 1), with b(k) = h + k B + 8 j(k), and j(k) drawn uniformly from
///                      [-m, m], m = (B/8 - 1) / 2, but 0 at both ends: the prefix sums of lengths with mean B
///   sequential shared  h + i B on every rank; the ranks share the writing, each a contiguous part
///   sequential own     h + i B in a file of the rank's own
///   segmented          h + r N B + i B
///   tiled              h + ((ty N + i) X + tx) B of tile (tx, ty) = (r mod X, r / X), X tiles in a row
///   flash              h + (v T + t(r) + b) B for block b of variable v: N/variables + r mod 3 blocks, t their prefix
///                      sum, T that of all ranks
///   mesh               h + g R of vertex g, R bytes a record: of each P vertices in a row every rank has one
///   listed             where the list says, in one file or in one of each rank
class PioPattern final {
 public:
  /// `writes`: as the ranks lay the file down, which differs where all read the same.
  PioPattern(const PioShape& shape, std::uint64_t rank, bool writes = false)
      : shape_(shape),
        rank_(rank),
        unit_bytes_(unit_of(shape)),
        pieces_(shape.requests * shape.pieces_a_request()),
        most_pieces_(pieces_),
        jitter_((shape.request_bytes / pio_word_bytes - 1) / 2),
        order_(std::max<std::uint64_t>(pieces_, 1), mix64(shape.seed) ^ mix64(~rank)),
        listed_(shape.list, rank, shape.per_rank()) {
    switch (shape.kind) {
      case PioKind::sequential_shared:
        if (!writes) break;
        first_ = shape.requests * rank / shape.ranks;
        pieces_ = shape.requests * (rank + 1) / shape.ranks - first_;
        most_pieces_ = (shape.requests + shape.ranks - 1) / shape.ranks;
        break;
      case PioKind::tiled:
        row_ = shape.row_of_tiles();
        break;
      case PioKind::flash:
        before_ = blocks_before(rank);
        blocks_ = blocks_before(rank + 1) - before_;
        all_ = blocks_before(shape.ranks);
        pieces_ = blocks_ * shape.variables;
        most_pieces_ =
            (shape.requests / shape.variables + std::min<std::uint64_t>(shape.ranks - 1, 2)) * shape.variables;
        break;
      case PioKind::listed:
      case PioKind::listed_own:
        unit_bytes_ = listed_.longest_bytes;
        pieces_ = listed_.transfers();
        most_pieces_ = listed_.most_transfers;
        break;
      default:
        break;
    }
  }

  [[nodiscard]] std::uint64_t pieces() const noexcept { return pieces_; }
  /// Returns those of the rank that has most.
  [[nodiscard]] std::uint64_t most_pieces() const noexcept { return most_pieces_; }

  /// index < pieces().
  [[nodiscard]] PioPiece piece(std::uint64_t index) const noexcept {
    switch (shape_.kind) {
      case PioKind::simple_strided:
        return in_units(index * shape_.ranks + rank_);
      case PioKind::nested_strided:
        return in_units(nested(index) + rank_);
      case PioKind::random_strided:
        return random(index);
      case PioKind::sequential_shared:
      case PioKind::sequential_own:
        return in_units(first_ + index);
      case PioKind::segmented:
        return in_units(rank_ * shape_.requests + index);
      case PioKind::tiled:
        return in_units((rank_ / row_ * shape_.requests + index) * row_ + rank_ % row_);
      case PioKind::flash:
        return in_units(index / blocks_ * all_ + before_ + index % blocks_);
      case PioKind::mesh:
        return in_units(vertex(index));
      case PioKind::listed:
      case PioKind::listed_own: {
        const auto [run, offset_bytes] = listed_.at(index);
        return {offset_bytes, run->length_bytes, 0};
      }
    }
    return {};
  }

  /// Returns the length of the longest piece of any rank; the data of piece n is that of transfer n of such a length.
  [[nodiscard]] std::uint64_t unit_bytes() const noexcept { return unit_bytes_; }

  /// Returns the length of a file once all ranks have written, from its first byte.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept {
    const std::uint64_t base = shape_.base_bytes;
    switch (shape_.kind) {
      case PioKind::nested_strided:
        return base + (nested(shape_.requests - 1) + shape_.ranks) * unit_bytes_;
      case PioKind::sequential_shared:
      case PioKind::sequential_own:
        return base + shape_.requests * shape_.request_bytes;
      case PioKind::listed:
      case PioKind::listed_own:
        return listed_.end_bytes;
      default:
        return base + data_bytes();
    }
  }

  /// Returns what all ranks together write, over all files.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept {
    switch (shape_.kind) {
      case PioKind::sequential_shared:
        return shape_.requests * shape_.request_bytes;
      case PioKind::flash:
        return all_ * shape_.variables * shape_.request_bytes;
      case PioKind::mesh:
        return shape_.requests * shape_.pieces_a_request() * shape_.ranks * shape_.record_bytes;
      case PioKind::listed:
      case PioKind::listed_own:
        return listed_.bytes;
      default:
        return shape_.requests * shape_.ranks * shape_.request_bytes;
    }
  }

  [[nodiscard]] const PioShape& shape() const noexcept { return shape_; }

 private:
  [[nodiscard]] PioPiece in_units(std::uint64_t number) const noexcept {
    return {shape_.base_bytes + number * unit_bytes_, unit_bytes_, number};
  }

  [[nodiscard]] std::uint64_t nested(std::uint64_t index) const noexcept {
    std::uint64_t stride = shape_.ranks;
    std::uint64_t place = 0;
    for (std::uint64_t k = 1; k < shape_.levels; ++k) {
      place += index % shape_.inner_requests * stride;
      index /= shape_.inner_requests;
      stride = stride * shape_.inner_requests + shape_.gap_requests;
    }
    return place + index * stride;
  }

  [[nodiscard]] PioPiece random(std::uint64_t index) const noexcept {
    const std::uint64_t turn = index * shape_.ranks + rank_;
    const std::uint64_t begin = boundary(turn);
    return {shape_.base_bytes + begin, boundary(turn + 1) - begin, turn};
  }

  /// Returns, in bytes from the base on, where piece `turn` of all ranks begins.
  [[nodiscard]] std::uint64_t boundary(std::uint64_t turn) const noexcept {
    if (turn == 0 || turn == shape_.requests * shape_.ranks) return turn * shape_.request_bytes;
    const std::uint64_t drawn = below(mix64(mix64(shape_.seed) ^ turn), 2 * jitter_ + 1);
    return turn * shape_.request_bytes + drawn * pio_word_bytes - jitter_ * pio_word_bytes;
  }

  /// Each P vertices in a row are of one rank each, turned by as many places as the group's key says.
  [[nodiscard]] std::uint64_t vertex(std::uint64_t index) const noexcept {
    const std::uint64_t group = shape_.sorted ? index : order_(index);
    std::uint64_t place = rank_ + below(mix64(mix64(shape_.seed) ^ ~group), shape_.ranks);
    if (place >= shape_.ranks) place -= shape_.ranks;
    return group * shape_.ranks + place;
  }

  [[nodiscard]] std::uint64_t blocks_before(std::uint64_t rank) const noexcept {
    return rank * (shape_.requests / shape_.variables) + remainders_before(rank);
  }

  PioShape shape_;
  std::uint64_t rank_;
  std::uint64_t unit_bytes_;
  std::uint64_t pieces_;
  std::uint64_t most_pieces_;
  std::uint64_t first_ = 0;   // of the file's requests, where the ranks share the writing
  std::uint64_t row_ = 1;     // tiled: tiles in a row
  std::uint64_t blocks_ = 0;  // flash: of this rank
  std::uint64_t before_ = 0;  // flash: of the ranks before it
  std::uint64_t all_ = 0;     // flash: of all ranks
  std::uint64_t jitter_ = 0;  // random: the most that a boundary moves, in words of 8 bytes
  Permutation order_;         // mesh: of the groups of P vertices
  PioList listed_;            // empty where nothing is
};

/// Says how many pieces of a rank make a frame, which repeats after so many bytes.
struct PioFrame {
  std::uint64_t pieces = 0;
  std::uint64_t extent_bytes = 0;
};

inline PioFrame frame_of(const PioShape& shape, const PioPattern& pattern) {
  const std::uint64_t unit = shape.request_bytes;
  switch (shape.kind) {
    case PioKind::nested_strided: {
      std::uint64_t pieces = 1;
      std::uint64_t stride = shape.ranks;
      for (std::uint64_t k = 1; k < shape.levels; ++k) {
        pieces *= shape.inner_requests;
        stride = stride * shape.inner_requests + shape.gap_requests;
      }
      return {pieces, stride * unit};
    }
    case PioKind::tiled:
      return {1, shape.row_of_tiles() * unit};
    case PioKind::flash:
      return {pattern.pieces() / shape.variables, pattern.data_bytes() / shape.variables};
    default:
      return {pattern.pieces(), pattern.file_bytes() - shape.base_bytes};
  }
}

/// A view of the file that shows this rank its pieces one after the other; `view.pieces` refers to `pieces`.
struct PioView {
  std::vector<mpi::FilePiece> pieces;
  FileView view;

  explicit PioView(const PioPattern& pattern, std::uint64_t rank) {
    const PioShape& shape = pattern.shape();
    const std::uint64_t begin = pattern.pieces() > 0 ? pattern.piece(0).offset_bytes : shape.base_bytes;
    switch (shape.kind) {
      case PioKind::simple_strided:
        view.displacement_bytes = shape.base_bytes;
        view.chunk_bytes = shape.request_bytes;
        view.part = static_cast<int>(rank);
        view.parts = static_cast<int>(shape.ranks);
        return;
      case PioKind::sequential_shared:
      case PioKind::sequential_own:
      case PioKind::segmented:
        view.displacement_bytes = begin;
        return;
      default:
        break;
    }
    const PioFrame frame = frame_of(shape, pattern);
    for (std::uint64_t i = 0; i < frame.pieces; ++i) {
      const PioPiece piece = pattern.piece(i);
      if (!pieces.empty() && pieces.back().offset_bytes + pieces.back().length_bytes == piece.offset_bytes - begin)
        pieces.back().length_bytes += piece.length_bytes;
      else
        pieces.push_back({piece.offset_bytes - begin, piece.length_bytes});
    }
    view.displacement_bytes = begin;
    view.pieces = pieces;
    view.extent_bytes = frame.extent_bytes;
  }

  PioView(const PioView&) = delete;
  PioView& operator=(const PioView&) = delete;
};

/// Says who owns which bytes, by the pattern's own formula with few ranks and requests: for each of the ranks its
/// pieces in the order in which it moves them, each as where it begins and how long it is, in requests.
[[nodiscard]] inline nlohmann::json picture_of(const PioShape& shape) {
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
