// SPDX-License-Identifier: Apache-2.0
// Spatial patterns of parallel programs as pure functions: which bytes of the file are piece i of rank r. No I/O, no
// clock, O(1) memory, and an offset costs no more on many ranks than on few.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/permutation.hpp"
#include "storage/viewed_file.hpp"

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

  /// Returns whether each rank has a file of its own.
  [[nodiscard]] bool per_rank() const { return kind == PioKind::sequential_own; }
  /// Tiles in a row.
  [[nodiscard]] std::uint64_t row_of_tiles() const;
  /// Pieces that make a request: 1, of a mesh as many as records fit.
  [[nodiscard]] std::uint64_t pieces_a_request() const;
  /// Bytes that belong to nobody lie between pieces of the ranks.
  [[nodiscard]] bool has_holes() const { return kind == PioKind::nested_strided && gap_requests > 0 && levels > 1; }
};

/// Contiguous bytes of the file. `number` is a bijection to where they are: data is made by it.
struct PioPiece {
  std::uint64_t offset_bytes = 0;
  std::uint64_t length_bytes = 0;
  std::uint64_t number = 0;
  [[nodiscard]] bool operator==(const PioPiece&) const = default;
};

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
class PioPattern final {
 public:
  /// `writes`: as the ranks lay the file down, which differs where all read the same.
  PioPattern(const PioShape& shape, std::uint64_t rank, bool writes = false);

  [[nodiscard]] std::uint64_t pieces() const noexcept { return pieces_; }
  /// Returns those of the rank that has most.
  [[nodiscard]] std::uint64_t most_pieces() const noexcept { return most_pieces_; }
  /// index < pieces().
  [[nodiscard]] PioPiece piece(std::uint64_t index) const noexcept;
  /// Returns the length of the longest piece of any rank; the data of piece n is that of transfer n of such a length.
  [[nodiscard]] std::uint64_t unit_bytes() const noexcept { return unit_bytes_; }
  /// Returns the length of a file once all ranks have written, from its first byte.
  [[nodiscard]] std::uint64_t file_bytes() const noexcept;
  /// Returns what all ranks together write, over all files.
  [[nodiscard]] std::uint64_t data_bytes() const noexcept;
  [[nodiscard]] const PioShape& shape() const noexcept { return shape_; }

 private:
  [[nodiscard]] PioPiece in_units(std::uint64_t number) const noexcept;
  [[nodiscard]] std::uint64_t nested(std::uint64_t index) const noexcept;
  [[nodiscard]] PioPiece random(std::uint64_t index) const noexcept;
  [[nodiscard]] std::uint64_t boundary(std::uint64_t turn) const noexcept;
  [[nodiscard]] std::uint64_t vertex(std::uint64_t index) const noexcept;
  [[nodiscard]] std::uint64_t blocks_before(std::uint64_t rank) const noexcept;

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
};

/// A view of the file that shows this rank its pieces one after the other; `view.pieces` refers to `pieces`.
struct PioView {
  std::vector<mpi::FilePiece> pieces;
  FileView view;

  explicit PioView(const PioPattern& pattern, std::uint64_t rank);
  PioView(const PioView&) = delete;
  PioView& operator=(const PioView&) = delete;
};

/// Says who owns which bytes, by the pattern's own formula with few ranks and requests: for each of the ranks its
/// pieces in the order in which it moves them, each as where it begins and how long it is, in requests.
[[nodiscard]] nlohmann::json picture_of(const PioShape& shape);

}  // namespace ullage
