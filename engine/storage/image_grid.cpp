// SPDX-License-Identifier: Apache-2.0
#include "storage/image_grid.hpp"

#include "storage/numbered_names.hpp"

namespace ullage {
namespace {

constexpr std::string_view raw_prefix = "raw.";
constexpr std::string_view template_prefix = "template.";
constexpr std::string_view location_prefix = "l.";
constexpr std::string_view image_prefix = "i.";
constexpr std::string_view container_prefix = "c.";
constexpr std::string_view detections_prefix = "detections.";
constexpr std::string_view records_prefix = "records.";

std::string named_once(std::string_view prefix, std::uint64_t number) {
  std::string name;
  append_named(name, prefix, number);
  return name;
}

std::string named_twice(std::string_view prefix, std::uint64_t first, std::uint64_t second) {
  std::string name = named_once(prefix, first);
  append_named(name, ".", second);
  return name;
}

}  // namespace

std::uint64_t ImageGrid::file_count() const noexcept {
  const std::uint64_t images = layout == ImageLayout::files ? locations * depth : locations;
  return raw_writers() * raw_files + templates + images + 2 * ranks;
}

std::string ImageGrid::directory_path(std::uint64_t location) const { return named_once(location_prefix, location); }

std::string ImageGrid::raw_path(std::uint64_t writer, std::uint64_t number) const {
  return named_twice(raw_prefix, writer, number);
}

std::string ImageGrid::template_path(std::uint64_t number) const { return named_once(template_prefix, number); }

std::string ImageGrid::image_path(std::uint64_t location, std::uint64_t time) const {
  if (layout == ImageLayout::containers) return named_once(container_prefix, location);
  return directory_path(location) + "/" + named_twice(image_prefix, location, time);
}

std::string ImageGrid::detections_path(std::uint64_t rank) const { return named_once(detections_prefix, rank); }

std::string ImageGrid::records_path(std::uint64_t rank) const { return named_once(records_prefix, rank); }

std::optional<ImageGrid::Item> ImageGrid::parse_item(std::string_view name) const {
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

bool ImageGrid::is_directory_name(std::string_view name) const {
  return layout == ImageLayout::files && numbered(name, location_prefix, locations).has_value();
}

std::string word(ImageLayout layout) { return layout == ImageLayout::files ? "files" : "containers"; }

std::optional<ImageLayout> parse_image_layout(std::string_view word) {
  if (word == "files") return ImageLayout::files;
  if (word == "containers") return ImageLayout::containers;
  return std::nullopt;
}

}  // namespace ullage
