// SPDX-License-Identifier: Apache-2.0
// The files of a pipeline that keeps images on a grid of locations, and what they are called. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ullage {

enum class ImageLayout { files, containers };

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
  [[nodiscard]] std::uint64_t file_count() const noexcept;

  // Paths below the dataset's directory.
  [[nodiscard]] std::string directory_path(std::uint64_t location) const;
  [[nodiscard]] std::string raw_path(std::uint64_t writer, std::uint64_t number) const;
  [[nodiscard]] std::string template_path(std::uint64_t number) const;
  /// With layout `containers` this is the path of its container, the same at all times.
  [[nodiscard]] std::string image_path(std::uint64_t location, std::uint64_t time) const;
  [[nodiscard]] std::string detections_path(std::uint64_t rank) const;
  [[nodiscard]] std::string records_path(std::uint64_t rank) const;

  struct Item {
    std::uint64_t rank = 0;  // or location
    std::uint64_t item = 0;
  };
  /// What a file's name says; nothing for every name that is none of these files.
  [[nodiscard]] std::optional<Item> parse_item(std::string_view name) const;
  [[nodiscard]] bool is_directory_name(std::string_view name) const;
  [[nodiscard]] bool operator==(const ImageGrid&) const = default;
};

/// The layout's word in manifests and parameters.
[[nodiscard]] std::string word(ImageLayout layout);
[[nodiscard]] std::optional<ImageLayout> parse_image_layout(std::string_view word);

}  // namespace ullage
