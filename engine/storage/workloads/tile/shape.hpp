// SPDX-License-Identifier: Apache-2.0
// Where the tiles of a dense data set lie in a file: the formulas of MPI Tile I/O, in 64 bits and up to three
// dimensions. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "storage/array_file.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

/// One dimension. Neighbours have `overlap` elements in common.
struct TileAxis {
  std::uint64_t tiles = 1;
  std::uint64_t tile = 1;  // elements of a tile
  std::uint64_t overlap = 0;

  /// Elements of the data set.
  [[nodiscard]] std::uint64_t elements() const { return tiles * tile - (tiles - 1) * overlap; }
  /// First element of a tile.
  [[nodiscard]] std::uint64_t begin(std::uint64_t index) const { return index * (tile - overlap); }
  [[nodiscard]] bool operator==(const TileAxis&) const = default;
};

/// A box of a tile that is one run of the rank's memory. `ranges`: elements of the data set along z, y and x.
struct TilePart {
  std::array<ArrayRange, 3> ranges;
  std::uint64_t begin_bytes = 0;  // in the tile
  std::uint64_t length_bytes = 0;
};

/// Tiles have the numbers of their ranks, row-major: x runs fastest. A file is a header and `frames` data sets one
/// behind the other, each in C order.
struct TileShape {
  std::array<TileAxis, 3> axes;  // z, y, x
  std::uint64_t element_bytes = 1;
  std::uint64_t header_bytes = 0;
  std::uint64_t frames = 1;

  [[nodiscard]] std::uint64_t tiles() const { return axes[0].tiles * axes[1].tiles * axes[2].tiles; }
  [[nodiscard]] std::uint64_t tile_bytes() const { return rows() * row_bytes(); }
  [[nodiscard]] std::uint64_t frame_bytes() const;
  [[nodiscard]] std::uint64_t file_bytes() const { return header_bytes + frames * frame_bytes(); }
  /// z is there: the view has three dimensions, else two.
  [[nodiscard]] bool has_depth() const { return axes[0] != TileAxis{}; }

  /// A tile is `rows()` runs of `row_bytes()` bytes each, in the order in which a rank sees them.
  [[nodiscard]] std::uint64_t rows() const { return axes[0].tile * axes[1].tile; }
  [[nodiscard]] std::uint64_t row_bytes() const { return axes[2].tile * element_bytes; }
  [[nodiscard]] std::uint64_t row_offset_bytes(std::uint64_t tile, std::uint64_t frame, std::uint64_t row) const;
  /// z, y and x of a tile.
  [[nodiscard]] std::array<std::uint64_t, 3> place_of(std::uint64_t tile) const;
  /// Returns what the rank of this tile sees of the file.
  [[nodiscard]] FileView view_of(std::uint64_t tile) const;
  /// The tile in the order of memory, in as few parts as have at most so many bytes, but an element at least.
  [[nodiscard]] std::vector<TilePart> parts_of(std::uint64_t tile, std::uint64_t most_bytes) const;
  [[nodiscard]] bool operator==(const TileShape&) const = default;
};

}  // namespace ullage
