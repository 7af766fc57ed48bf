// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/sar/parameters.hpp"

#include <algorithm>

#include "base/rounding.hpp"

namespace ullage {
namespace {

constexpr double most_bytes = 4e18;  // of all that a case keeps

const Words<SarRaw>& sar_raw_words() {
  static const Words<SarRaw> words{{SarRaw::shared, "shared"}, {SarRaw::own, "own"}};
  return words;
}
const Words<ImageLayout>& sar_layout_words() {
  static const Words<ImageLayout> words{{ImageLayout::files, word(ImageLayout::files)},
                                        {ImageLayout::containers, word(ImageLayout::containers)}};
  return words;
}
const Words<SarSync>& sar_sync_words() {
  static const Words<SarSync> words{{SarSync::none, "none"}, {SarSync::close, "close"}, {SarSync::fsync, "fsync"}};
  return words;
}
const Words<SarCache>& sar_cache_words() {
  static const Words<SarCache> words{{SarCache::none, "none"}, {SarCache::drop, "drop"}};
  return words;
}
const Words<SarVerify>& sar_verify_words() {
  static const Words<SarVerify> words{{SarVerify::none, "none"}, {SarVerify::full, "full"}};
  return words;
}

Table<SarParameters> sar_sizes() {
  using P = SarParameters;
  constexpr Bounds pixels{1, 1e6};
  return {
      count("grid", &P::grid, {1, 4096}, "Keep images at this many locations along each side of a square grid."),
      count("depth", &P::depth, {2, 1e6}, "Keep this many images of each location."),
      count("rows", &P::rows, pixels, "Let an image have this many rows of pixels."),
      count("columns", &P::columns, pixels, "Let a row of an image have this many pixels of 4 bytes."),
      count("raw_columns", &P::raw_columns, pixels,
            "Let a row of the raw data of an image have this many samples of 8 bytes."),
      choice("raw", &P::raw, sar_raw_words(),
             "Choose whose the raw files are: the same ones for all ranks (shared), or some for each rank (own)."),
      count("raw_files", &P::raw_files, {1, 1e6}, "Make this many raw files, which are read in turns."),
      count("templates", &P::templates, {1, 1e6}, "Make this many template files, all of which K4 reads on each rank."),
      bytes("template_bytes", &P::template_bytes, {8, 1e9}, "Let a template file have this many bytes."),
      count("subimages", &P::subimages, {1, 1e5}, "Take this many sub-images from each pair of images."),
      count("subimage_side", &P::subimage_side, {1, 1e5}, "Let a sub-image have this many pixels along each side."),
  };
}

Table<SarParameters> sar_conditions() {
  using P = SarParameters;
  return {
      choice("layout", &P::layout, sar_layout_words(),
             "Choose where images lie: each in a file in the directory of its location (files), or all of a location "
             "in one file, one behind the other (containers)."),
      count("seed", &P::seed, {0, 9e15}, "Set the seed of the order of locations and of the places of sub-images."),
      choice("read_back", &P::read_back, read_back_words(),
             "Choose whose files a rank reads in K1, K3 and K4, by where the ranks really run."),
      choice("sync", &P::sync, sar_sync_words(),
             "Choose what is synced: nothing, everything once at the end of a phase that writes (close), or each raw "
             "file, template and image when it is written (fsync). With fsync, detections and records are synced at "
             "the end of their phase."),
      choice(
          "cache", &P::cache, sar_cache_words(),
          "Choose what to do before K1, K3 and K4: nothing, or drop the files they read from the node's page cache."),
      choice("verify", &P::verify, sar_verify_words(), "Choose what to verify of the data read: nothing, or all."),
  };
}

/// Computes in floating point, since products of bad sizes overflow.
double all_bytes(const SarParameters& p, const PlannedLayout& layout) {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  const double images = number(p.grid) * number(p.grid) * number(p.depth);
  const double raws = number(p.raw_files) * (p.raw == SarRaw::own ? layout.ranks : 1.0);
  const double group = number(p.subimages) * number(p.subimage_side) * number(p.subimage_side) * 4;
  return images * (number(p.rows) * number(p.columns) * 4 + group + number(p.subimages) * SarShape::record_bytes) +
         raws * number(p.rows) * number(p.raw_columns) * 8 + number(p.templates) * number(p.template_bytes);
}

Status check_sizes(const SarParameters& p, const PlannedLayout& layout, const std::string& pointer) {
  for (const auto& [name, pixels] : {std::pair("rows", p.rows), std::pair("columns", p.columns)})
    if (p.subimage_side > pixels)
      return fail(bad_plan(pointer + "/subimage_side",
                           "must be at most the " + std::to_string(pixels) + " " + name + " of an image"));
  if (all_bytes(p, layout) <= most_bytes) return {};
  return fail(bad_plan(pointer + "/depth", "makes more than 4e18 bytes with the other sizes"));
}

}  // namespace

const Table<SarParameters>& SarParameters::table() {
  static const Table<SarParameters> fields = joined<SarParameters>(sar_sizes(), sar_conditions());
  return fields;
}

SarShape SarParameters::shape(std::uint64_t ranks) const {
  return {ranks, grid, depth, rows, columns, raw_columns, subimages, subimage_side, seed};
}

ImageGrid SarParameters::files(std::uint64_t ranks) const {
  return {ranks, grid * grid, depth, layout, raw_files, raw == SarRaw::shared, templates};
}

Status check_sar(const SarParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                 const std::string& pointer) {
  if (auto status = check_sizes(p, layout, pointer); !status) return status;
  if (p.verify == SarVerify::full && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.sync != SarSync::none && !capabilities.metadata)
    return fail(bad_plan(pointer + "/sync", "must be none: this backend has no metadata operations"));
  return {};
}

/// Groups and records as if each rank had the locations of the one that has most: whose it reads is known later.
Needs needs_of_sar(const SarParameters& p, const PlannedLayout& layout) {
  constexpr std::uint64_t block = 4096;  // of most file systems
  constexpr std::uint64_t around = 4;    // folder, marker, manifest, dataset directory
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const SarShape shape = p.shape(ranks);
  const ImageGrid files = p.files(ranks);
  const std::uint64_t images = p.layout == ImageLayout::files
                                   ? shape.images() * round_up(shape.image_bytes(), block)
                                   : shape.locations() * round_up(shape.depth * shape.image_bytes(), block);
  const std::uint64_t pairs = shape.pairs_of(0);
  const std::uint64_t found =
      ranks * (round_up(pairs * shape.group_bytes(), block) + round_up(pairs * shape.records_bytes(), block));
  return {files.raw_writers() * files.raw_files * round_up(shape.raw_bytes(), block) +
              files.templates * round_up(p.template_bytes, block) + images + found,
          files.file_count() + files.directory_count() + around};
}

std::string word_of(SarRaw raw) { return detail::word_of(sar_raw_words(), raw); }
std::string word_of(SarSync sync) { return detail::word_of(sar_sync_words(), sync); }

}  // namespace ullage
