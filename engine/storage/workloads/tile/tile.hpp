// SPDX-License-Identifier: Apache-2.0
// The words of workload `tile`.
#pragma once

#include "storage/array_file.hpp"
#include "storage/viewed_file.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Where the tiles of a dense data set lie in a file: the formulas of MPI Tile I/O, in 64 bits and up to three
// dimensions. Pure.

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

  [[nodiscard]] std::uint64_t frame_bytes() const {
    return axes[0].elements() * axes[1].elements() * axes[2].elements() * element_bytes;
  }

  [[nodiscard]] std::uint64_t file_bytes() const { return header_bytes + frames * frame_bytes(); }
  /// z is there: the view has three dimensions, else two.
  [[nodiscard]] bool has_depth() const { return axes[0] != TileAxis{}; }

  /// A tile is `rows()` runs of `row_bytes()` bytes each, in the order in which a rank sees them.
  [[nodiscard]] std::uint64_t rows() const { return axes[0].tile * axes[1].tile; }
  [[nodiscard]] std::uint64_t row_bytes() const { return axes[2].tile * element_bytes; }

  [[nodiscard]] std::uint64_t row_offset_bytes(std::uint64_t tile, std::uint64_t frame, std::uint64_t row) const {
    const auto place = place_of(tile);
    const std::uint64_t z = axes[0].begin(place[0]) + row / axes[1].tile;
    const std::uint64_t y = axes[1].begin(place[1]) + row % axes[1].tile;
    const std::uint64_t x = axes[2].begin(place[2]);
    const std::uint64_t element = (z * axes[1].elements() + y) * axes[2].elements() + x;
    return header_bytes + frame * frame_bytes() + element * element_bytes;
  }

  /// z, y and x of a tile.
  [[nodiscard]] std::array<std::uint64_t, 3> place_of(std::uint64_t tile) const {
    return {tile / axes[2].tiles / axes[1].tiles, tile / axes[2].tiles % axes[1].tiles, tile % axes[2].tiles};
  }

  /// Returns what the rank of this tile sees of the file.
  [[nodiscard]] FileView view_of(std::uint64_t tile) const {
    const auto place = place_of(tile);
    mpi::FileArray array;
    array.element_bytes = element_bytes;
    for (std::size_t axis = has_depth() ? 0 : 1; axis < axes.size(); ++axis) {
      array.sizes.push_back(axes[axis].elements());
      array.extents.push_back(axes[axis].tile);
      array.begins.push_back(axes[axis].begin(place[axis]));
    }
    return {.displacement_bytes = header_bytes, .array = std::move(array)};
  }

  /// The tile in the order of memory, in as few parts as have at most so many bytes, but an element at least.
  [[nodiscard]] std::vector<TilePart> parts_of(std::uint64_t tile, std::uint64_t most_bytes) const {
    const auto place = place_of(tile);
    const std::array<std::uint64_t, 3> unit_bytes{axes[1].tile * row_bytes(), row_bytes(), element_bytes};
    std::size_t cut = 0;
    while (cut < 2 && unit_bytes[cut] > most_bytes) ++cut;
    std::array<std::uint64_t, 3> steps{1, 1, 1};
    steps[cut] = std::max<std::uint64_t>(most_bytes / unit_bytes[cut], 1);
    for (std::size_t axis = cut + 1; axis < 3; ++axis) steps[axis] = axes[axis].tile;
    std::vector<TilePart> parts;
    std::uint64_t begin_bytes = 0;
    std::array<std::uint64_t, 3> at{};
    const auto range_of = [&](std::size_t axis) {
      return ArrayRange{axes[axis].begin(place[axis]) + at[axis], std::min(steps[axis], axes[axis].tile - at[axis])};
    };
    for (at[0] = 0; at[0] < axes[0].tile; at[0] += steps[0])
      for (at[1] = 0; at[1] < axes[1].tile; at[1] += steps[1])
        for (at[2] = 0; at[2] < axes[2].tile; at[2] += steps[2]) {
          TilePart part{{range_of(0), range_of(1), range_of(2)}, begin_bytes, element_bytes};
          for (const ArrayRange& range : part.ranges) part.length_bytes *= range.extent;
          begin_bytes += part.length_bytes;
          parts.push_back(part);
        }
    return parts;
  }

  [[nodiscard]] bool operator==(const TileShape&) const = default;
};

enum class TileCalls { independent, collective };
[[nodiscard]] inline Words<TileCalls> words_of(TileCalls) {
  return {{TileCalls::independent, "independent"}, {TileCalls::collective, "collective"}};
}

struct TileParameters {
  std::uint64_t tiles_x = 1;
  std::uint64_t tiles_y = 1;
  std::uint64_t tiles_z = 1;
  std::uint64_t tile_x = 1024;
  std::uint64_t tile_y = 1024;
  std::uint64_t tile_z = 1;
  std::uint64_t overlap_x = 0;
  std::uint64_t overlap_y = 0;
  std::uint64_t overlap_z = 0;
  std::uint64_t element_bytes = 3;
  std::uint64_t header_bytes = 0;
  std::uint64_t frames = 1;
  TileCalls calls = TileCalls::independent;
  std::vector<Direction> phases{Direction::write, Direction::read};
  bool sync = true;
  std::uint64_t buffers = std::uint64_t{32} << 20;
  Verify verify = Verify::full;
  DropCache cache = DropCache::none;

  [[nodiscard]] static Table<TileParameters> table();

  [[nodiscard]] TileShape shape() const;
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_tile(const TileParameters& parameters, const Capabilities& capabilities,
                                const PlannedLayout& layout, const std::string& pointer);
/// Checks the same of the backend itself, whose parameters decide whether arrays are transferred collectively.
[[nodiscard]] Status check_tile_backend(const TileParameters& parameters, const Capabilities& capabilities);
/// Room for the frames; the header is never written, and takes none.
[[nodiscard]] Needs needs_of_tile(const TileParameters& parameters);

}  // namespace ullage
