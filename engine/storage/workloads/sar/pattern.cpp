// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/pattern.hpp"

#include "base/permutation.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t store_key = 1;
constexpr std::uint64_t pair_key = 2;
constexpr std::uint64_t corner_key = 3;

std::uint64_t drawn_key(const SarShape& shape, std::uint64_t use, std::uint64_t number) {
  return mix64(mix64(mix64(shape.seed) + use) + number);
}

/// Location `index` of an owner's, by a permutation of them.
std::uint64_t scattered(const SarShape& shape, std::uint64_t owner, std::uint64_t index, std::uint64_t key) {
  return owner + shape.ranks * Permutation(shape.locations_of(owner), key)(index);
}

std::uint64_t pair_number(const SarShape& shape, const ImageAt& earlier) {
  return earlier.location * shape.pairs_of_location() + earlier.time;
}

}  // namespace

ImageAt StoreOrder::operator()(std::uint64_t index) const noexcept {
  const std::uint64_t locations = shape_.locations_of(owner_);
  const std::uint64_t time = index / locations;
  const std::uint64_t key = drawn_key(shape_, store_key, owner_ * shape_.depth + time);
  return {scattered(shape_, owner_, index % locations, key), time};
}

ImageAt PairOrder::operator()(std::uint64_t index) const noexcept {
  const std::uint64_t pairs = shape_.pairs_of_location();
  return {scattered(shape_, owner_, index / pairs, drawn_key(shape_, pair_key, owner_)), index % pairs};
}

Corner corner_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t number) noexcept {
  const std::uint64_t key = drawn_key(shape, corner_key, pair_number(shape, earlier) * shape.subimages + number);
  return {key % (shape.rows - shape.side + 1), mix64(key) % (shape.columns - shape.side + 1)};
}

std::uint64_t run_offset_bytes(const SarShape& shape, const Corner& corner, std::uint64_t row) noexcept {
  return ((corner.row + row) * shape.columns + corner.column) * SarShape::pixel_bytes;
}

std::uint64_t image_position_bytes(const SarShape& shape, const ImageAt& image) noexcept {
  return (image.location * shape.depth + image.time) * shape.image_bytes();
}

std::uint64_t records_position_bytes(const SarShape& shape, const ImageAt& earlier) noexcept {
  return pair_number(shape, earlier) * shape.records_bytes();
}

std::uint64_t image_offset_bytes(const SarShape& shape, ImageLayout layout, std::uint64_t time) noexcept {
  return layout == ImageLayout::containers ? time * shape.image_bytes() : 0;
}

void runs_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t offset_bytes, std::span<std::byte> group,
             std::vector<Extent>& runs) {
  const auto length = static_cast<std::size_t>(shape.run_bytes());
  runs.clear();
  for (std::uint64_t number = 0; number < shape.subimages; ++number) {
    const Corner corner = corner_of(shape, earlier, number);
    for (std::uint64_t row = 0; row < shape.side; ++row)
      runs.push_back({offset_bytes + run_offset_bytes(shape, corner, row), length, &group[runs.size() * length]});
  }
}

}  // namespace ullage
