// SPDX-License-Identifier: Apache-2.0
// The words of workload `sar`.
#pragma once

#include "base/permutation.hpp"
#include "storage/image_grid.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Which image, pair and part of an image a rank of workload `sar` works on next. Pure.

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
  /// Returns the length of a row of a sub-image, which lies as many bytes before the next as the image has in a row.
  [[nodiscard]] std::uint64_t run_bytes() const noexcept { return side * pixel_bytes; }
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

inline constexpr std::uint64_t store_key = 1;

inline std::uint64_t drawn_key(const SarShape& shape, std::uint64_t use, std::uint64_t number) {
  return mix64(mix64(mix64(shape.seed) + use) + number);
}

/// Location `index` of an owner's, by a permutation of them.
inline std::uint64_t scattered(const SarShape& shape, std::uint64_t owner, std::uint64_t index, std::uint64_t key) {
  return owner + shape.ranks * Permutation(shape.locations_of(owner), key)(index);
}

/// The stream in which an owner stores its images: at each time one at all of its locations, in an order of that time.
class StoreOrder final {
 public:
  StoreOrder(const SarShape& shape, std::uint64_t owner) noexcept : shape_(shape), owner_(owner) {}

  /// index < images_of(owner).
  [[nodiscard]] ImageAt operator()(std::uint64_t index) const noexcept {
    const std::uint64_t locations = shape_.locations_of(owner_);
    const std::uint64_t time = index / locations;
    const std::uint64_t key = drawn_key(shape_, store_key, owner_ * shape_.depth + time);
    return {scattered(shape_, owner_, index % locations, key), time};
  }

 private:
  SarShape shape_;
  std::uint64_t owner_;
};

inline constexpr std::uint64_t pair_key = 2;

/// The order in which pairs of an owner's images are compared: its locations in random order, the pairs of a location
/// in the order of time. An item is the earlier image of a pair.
class PairOrder final {
 public:
  PairOrder(const SarShape& shape, std::uint64_t owner) noexcept : shape_(shape), owner_(owner) {}

  /// index < pairs_of(owner).
  [[nodiscard]] ImageAt operator()(std::uint64_t index) const noexcept {
    const std::uint64_t pairs = shape_.pairs_of_location();
    return {scattered(shape_, owner_, index / pairs, drawn_key(shape_, pair_key, owner_)), index % pairs};
  }

 private:
  SarShape shape_;
  std::uint64_t owner_;
};

/// The first pixel of a sub-image.
struct Corner {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
};

inline constexpr std::uint64_t corner_key = 3;

inline std::uint64_t pair_number(const SarShape& shape, const ImageAt& earlier) {
  return earlier.location * shape.pairs_of_location() + earlier.time;
}

/// Returns the corner of sub-image `number` of the pair that begins with this image; drawn by the seed.
[[nodiscard]] inline Corner corner_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t number) noexcept {
  const std::uint64_t key = drawn_key(shape, corner_key, pair_number(shape, earlier) * shape.subimages + number);
  return {key % (shape.rows - shape.side + 1), mix64(key) % (shape.columns - shape.side + 1)};
}

/// Returns where row `row` of sub-image `number` begins in the later image of the pair.
[[nodiscard]] inline std::uint64_t run_offset_bytes(const SarShape& shape, const Corner& corner,
                                                    std::uint64_t row) noexcept {
  return ((corner.row + row) * shape.columns + corner.column) * SarShape::pixel_bytes;
}

// Places in the contents of all data of a kind, one piece behind the other.
[[nodiscard]] inline std::uint64_t image_position_bytes(const SarShape& shape, const ImageAt& image) noexcept {
  return (image.location * shape.depth + image.time) * shape.image_bytes();
}

[[nodiscard]] inline std::uint64_t records_position_bytes(const SarShape& shape, const ImageAt& earlier) noexcept {
  return pair_number(shape, earlier) * shape.records_bytes();
}

/// Returns where an image begins in its file.
[[nodiscard]] inline std::uint64_t image_offset_bytes(const SarShape& shape, ImageLayout layout,
                                                      std::uint64_t time) noexcept {
  return layout == ImageLayout::containers ? time * shape.image_bytes() : 0;
}

// The rows of a pair's sub-images, as they lie in the later image and one behind the other in their group. Pure.

/// Makes `runs` those that read the sub-images of the pair from a file in which the later image begins at
/// `offset_bytes`. `group` has the bytes of a group.
inline void runs_of(const SarShape& shape, const ImageAt& earlier, std::uint64_t offset_bytes,
                    std::span<std::byte> group, std::vector<Extent>& runs) {
  const auto length = static_cast<std::size_t>(shape.run_bytes());
  runs.clear();
  for (std::uint64_t number = 0; number < shape.subimages; ++number) {
    const Corner corner = corner_of(shape, earlier, number);
    for (std::uint64_t row = 0; row < shape.side; ++row)
      runs.push_back({offset_bytes + run_offset_bytes(shape, corner, row), length, &group[runs.size() * length]});
  }
}

enum class SarRaw { shared, own };
[[nodiscard]] inline Words<SarRaw> words_of(SarRaw) { return {{SarRaw::shared, "shared"}, {SarRaw::own, "own"}}; }
enum class SarSync { none, close, fsync };
[[nodiscard]] inline Words<SarSync> words_of(SarSync) {
  return {{SarSync::none, "none"}, {SarSync::close, "close"}, {SarSync::fsync, "fsync"}};
}

struct SarParameters {
  std::uint64_t grid = 4;
  std::uint64_t depth = 2;
  std::uint64_t rows = 1144;
  std::uint64_t columns = 756;
  std::uint64_t raw_columns = 1072;
  SarRaw raw = SarRaw::shared;
  std::uint64_t raw_files = 1;
  std::uint64_t templates = 40;
  std::uint64_t template_bytes = 4096;
  std::uint64_t subimages = 8;
  std::uint64_t subimage_side = 64;
  ImageLayout layout = ImageLayout::files;
  std::uint64_t seed = 1;
  ReadBack read_back = ReadBack::other_node;
  SarSync sync = SarSync::close;
  DropCache cache = DropCache::none;
  Verify verify = Verify::full;

  [[nodiscard]] static Table<SarParameters> table();

  [[nodiscard]] SarShape shape(std::uint64_t ranks) const;
  [[nodiscard]] ImageGrid files(std::uint64_t ranks) const;
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_sar(const SarParameters& parameters, const Capabilities& capabilities,
                               const PlannedLayout& layout, const std::string& pointer);
[[nodiscard]] Needs needs_of_sar(const SarParameters& parameters, const PlannedLayout& layout);

// What the phases of a repetition share on one rank.

struct SarState {
  SarParameters parameters;
  SarShape shape;
  StorageContext context;
  Capabilities capabilities;
  DatasetEntry dataset;
  DataSource source;               // the rank whose raw data, images and detections this one reads
  std::uint64_t source_owner = 0;  // the rank whose images that one has read, so which those detections are of

  SarState(const SarParameters& given, const StorageContext& bound)
      : parameters(given), context(bound), capabilities(bound.backend->capabilities()) {
    const auto ranks = static_cast<std::uint64_t>(context.world->size());
    shape = parameters.shape(ranks);
    dataset = dataset_of(context);
    dataset.grid = parameters.files(ranks);
    source.rank = context.world->rank();
    source_owner = rank();
  }

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::uint64_t source_rank() const { return static_cast<std::uint64_t>(source.rank); }
  [[nodiscard]] const ImageGrid& files() const { return *dataset.grid; }
  [[nodiscard]] std::string in_dataset(const std::string& path) const { return dataset.directory + "/" + path; }
  /// Shared things are dealt out to the ranks that share the folder: this rank makes this one.
  [[nodiscard]] bool makes(std::uint64_t number) const {
    return number % static_cast<std::uint64_t>(context.parts) == static_cast<std::uint64_t>(context.part);
  }
};

inline constexpr int source_distance = 1;
inline constexpr int ranks_at_once = 1024;  // memory does not grow with the ranks

/// Collective: the number that rank `asked` gave.
inline std::int64_t number_of(const mpi::Comm& all, std::int64_t own, int asked) {
  std::vector<std::int64_t> numbers;
  mpi::allocate_or_throw(all, [&] { numbers.reserve(static_cast<std::size_t>(std::min(ranks_at_once, all.size()))); });
  std::int64_t found = 0;
  for (int first = 0; first < all.size(); first += ranks_at_once) {
    numbers.assign(static_cast<std::size_t>(std::min(ranks_at_once, all.size() - first)), -1);
    const auto at = [first, &numbers](int rank) {
      return rank >= first && rank - first < static_cast<int>(numbers.size())
                 ? &numbers[static_cast<std::size_t>(rank - first)]
                 : nullptr;
    };
    if (std::int64_t* const place = at(all.rank())) *place = own;
    all.max_all(numbers);
    if (const std::int64_t* const place = at(asked)) found = *place;
  }
  return found;
}

/// Collective: finds the sources by where the ranks really run.
inline void find_sources(SarState& state) {
  const mpi::World& world = *state.context.world;
  state.source = find_data_source(world, state.parameters.read_back, source_distance);
  state.source_owner = static_cast<std::uint64_t>(number_of(world.all(), state.source.rank, state.source.rank));
}

}  // namespace ullage
