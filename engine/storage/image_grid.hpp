// SPDX-License-Identifier: Apache-2.0
// The files of a pipeline that keeps images on a grid of locations, and what they are called. Pure.
#pragma once

#include "base/parameters.hpp"
#include "base/std.hpp"
#include "storage/numbered_names.hpp"

namespace ullage {

enum class ImageLayout { files, containers };

inline constexpr std::string_view raw_prefix = "raw.";
inline constexpr std::string_view template_prefix = "template.";
inline constexpr std::string_view location_prefix = "l.";
inline constexpr std::string_view image_prefix = "i.";
inline constexpr std::string_view container_prefix = "c.";
inline constexpr std::string_view detections_prefix = "detections.";
inline constexpr std::string_view records_prefix = "records.";

inline std::string named_once(std::string_view prefix, std::uint64_t number) {
  std::string name;
  append_named(name, prefix, number);
  return name;
}

inline std::string named_twice(std::string_view prefix, std::uint64_t first, std::uint64_t second) {
  std::string name = named_once(prefix, first);
  append_named(name, ".", second);
  return name;
}

/// Raw data and templates go in; each location has a number of images, each in a file, or all in one container; each
/// rank has a file of detections and one of records. All are numbered from 0.
struct ImageGrid {
  std::uint64_t ranks = 1;
  std::uint64_t locations = 1;
  std::uint64_t depth = 1;  // images of a location
  ImageLayout layout = ImageLayout::files;
  std::uint64_t raw_files = 1;  // of each rank, or of all where they are shared
  bool raw_shared = false;
  std::uint64_t templates = 1;

  static constexpr std::uint64_t most_locations = std::uint64_t{1} << 24;
  static constexpr bool directories = false;  // its items are files

  [[nodiscard]] std::uint64_t raw_writers() const noexcept { return raw_shared ? 1 : ranks; }
  /// Directories below the dataset's own: one for each location, where images are files.
  [[nodiscard]] std::uint64_t directory_count() const noexcept { return layout == ImageLayout::files ? locations : 0; }

  [[nodiscard]] std::uint64_t file_count() const noexcept {
    const std::uint64_t images = layout == ImageLayout::files ? locations * depth : locations;
    return raw_writers() * raw_files + templates + images + 2 * ranks;
  }

  // Paths below the dataset's directory.
  [[nodiscard]] std::string directory_path(std::uint64_t location) const {
    return named_once(location_prefix, location);
  }

  [[nodiscard]] std::string raw_path(std::uint64_t writer, std::uint64_t number) const {
    return named_twice(raw_prefix, writer, number);
  }

  [[nodiscard]] std::string template_path(std::uint64_t number) const { return named_once(template_prefix, number); }

  /// Returns the path of its container with layout `containers`, the same at all times.
  [[nodiscard]] std::string image_path(std::uint64_t location, std::uint64_t time) const {
    if (layout == ImageLayout::containers) return named_once(container_prefix, location);
    return directory_path(location) + "/" + named_twice(image_prefix, location, time);
  }

  [[nodiscard]] std::string detections_path(std::uint64_t rank) const { return named_once(detections_prefix, rank); }
  [[nodiscard]] std::string records_path(std::uint64_t rank) const { return named_once(records_prefix, rank); }

  struct Item {
    std::uint64_t rank = 0;  // or location
    std::uint64_t item = 0;
  };

  /// Returns what a file's name says; nothing for every name that is none of these files.
  [[nodiscard]] std::optional<Item> parse_item(std::string_view name) const {
    if (const auto raw = numbered_twice(name, raw_prefix, {raw_writers(), raw_files}))
      return Item{raw->first, raw->second};
    if (const auto number = numbered(name, template_prefix, templates)) return Item{0, *number};
    if (layout == ImageLayout::files) {
      const auto image = numbered_twice(name, image_prefix, {locations, depth});
      if (image) return Item{image->first, image->second};
    } else if (const auto container = numbered(name, container_prefix, locations)) {
      return Item{*container, 0};
    }
    if (const auto rank = numbered(name, detections_prefix, ranks)) return Item{*rank, 0};
    if (const auto rank = numbered(name, records_prefix, ranks)) return Item{*rank, 0};
    return std::nullopt;
  }

  [[nodiscard]] bool is_directory_name(std::string_view name) const {
    return layout == ImageLayout::files && numbered(name, location_prefix, locations).has_value();
  }

  [[nodiscard]] bool operator==(const ImageGrid&) const = default;
};

[[nodiscard]] inline Words<ImageLayout> words_of(ImageLayout) {
  return {{ImageLayout::files, "files"}, {ImageLayout::containers, "containers"}};
}

}  // namespace ullage
