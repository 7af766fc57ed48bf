// SPDX-License-Identifier: Apache-2.0
// Which image, pair and part of an image a rank of workload `sar` works on next. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "storage/backend.hpp"
#include "storage/image_grid.hpp"

namespace ullage {

/// Sizes of a pipeline. A location is dealt to rank `location modulo ranks`, its owner.
struct SarShape {
  std::uint64_t ranks = 1;
  std::uint64_t grid = 4;   // locations along each side
  std::uint64_t depth = 2;  // images of a location, at least 2
  std::uint64_t rows = 1144;
  std::uint64_t columns = 756;       // of an image, of 4 bytes each
  std::uint64_t raw_columns = 1072;  // of the raw data of an image, of 8 bytes each
  std::uint64_t subimages = 8;       // of a pair of images
  std::uint64_t side = 64;           // of a sub-image, in pixels
  std::uint64_t seed = 1;

  static constexpr std::uint64_t pixel_bytes = 4;   // a float
  static constexpr std::uint64_t sample_bytes = 8;  // a complex number of two floats
  static constexpr std::uint64_t record_bytes = 64;

  [[nodiscard]] std::uint64_t image_bytes() const noexcept { return rows * columns * pixel_bytes; }
  [[nodiscard]] std::uint64_t raw_bytes() const noexcept { return rows * raw_columns * sample_bytes; }
  /// Returns the length of a row of a sub-image, which lies row_stride_bytes() before the next.
  [[nodiscard]] std::uint64_t run_bytes() const noexcept { return side * pixel_bytes; }
  [[nodiscard]] std::uint64_t row_stride_bytes() const noexcept { return columns * pixel_bytes; }
  /// Returns the length of all sub-images of a pair, one after the other.
  [[nodiscard]] std::uint64_t group_bytes() const noexcept { return subimages * side * run_bytes(); }
  [[nodiscard]] std::uint64_t records_bytes() const noexcept { return subimages * record_bytes; }
  [[nodiscard]] std::uint64_t locations() const noexcept { return grid * grid; }
  [[nodiscard]] std::uint64_t images() const noexcept { return locations() * depth; }
  /// Returns the pairs of a location: each image with the next.
  [[nodiscard]] std::uint64_t pairs_of_location() const noexcept { return depth - 1; }
  [[nodiscard]] std::uint64_t locations_of(std::uint64_t owner) const noexcept {
    return owner < locations() ? (locations() - owner + ranks - 1) / ranks : 0;
  }
  [[nodiscard]] std::uint64_t images_of(std::uint64_t owner) const noexcept { return locations_of(owner) * depth; }
  [[nodiscard]] std::uint64_t pairs_of(std::uint64_t owner) const noexcept {
    return locations_of(owner) * pairs_of_location();
  }
};

struct ImageAt {
  std::uint64_t location = 0;
  std::uint64_t time = 0;
  [[nodiscard]] bool operator==(const ImageAt&) const = default;
};

/// The stream in which an owner stores its images: at each time one at all of its locations, in an order of that time.
class StoreOrder final {
 public:
  StoreOrder(const SarShape& shape, std::uint64_t owner) noexcept : shape_(shape), owner_(owner) {}
  /// index < images_of(owner).
  [[nodiscard]] ImageAt operator()(std::uint64_t index) const noexcept;

 private:
  SarShape shape_;
  std::uint64_t owner_;
};

/// The order in which pairs of an owner's images are compared: its locations in random order, the pairs of a location
/// in the order of time. An item is the earlier image of a pair.
class PairOrder final {
 public:
  PairOrder(const SarShape& shape, std::uint64_t owner) noexcept : shape_(shape), owner_(owner) {}
  /// index < pairs_of(owner).
  [[nodiscard]] ImageAt operator()(std::uint64_t index) const noexcept;

 private:
  SarShape shape_;
  std::uint64_t owner_;
};

/// The first pixel of a sub-image.
struct Corner {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
};

/// Returns the corner of sub-image `number` of the pair that begins with this image; drawn by the seed.
[[nodiscard]] Corner corner_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t number) noexcept;

/// Returns where row `row` of sub-image `number` begins in the later image of the pair.
[[nodiscard]] std::uint64_t run_offset_bytes(const SarShape& shape, const Corner& corner, std::uint64_t row) noexcept;

// Places in the contents of all data of a kind, one piece behind the other.
[[nodiscard]] std::uint64_t image_position_bytes(const SarShape& shape, const ImageAt& image) noexcept;
[[nodiscard]] std::uint64_t records_position_bytes(const SarShape& shape, const ImageAt& earlier) noexcept;

/// Returns where an image begins in its file.
[[nodiscard]] std::uint64_t image_offset_bytes(const SarShape& shape, ImageLayout layout, std::uint64_t time) noexcept;

// The rows of a pair's sub-images, as they lie in the later image and one behind the other in their group. Pure.

/// Makes `runs` those that read the sub-images of the pair from a file in which the later image begins at
/// `offset_bytes`. `group` has the bytes of a group.
void runs_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t offset_bytes, std::span<std::byte> group,
             std::vector<Extent>& runs);

}  // namespace ullage
