// SPDX-License-Identifier: Apache-2.0
// Workload `sar`: the I/O of a pipeline of radar images: raw data in, images stored on a grid, pairs of them compared,
// and what was found looked up again.
#include "storage/workloads/sar/sar.hpp"

#include "storage/workloads/sar/detect.hpp"
#include "storage/workloads/sar/retrieve.hpp"
#include "storage/workloads/sar/whole_files.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

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
      choice("raw", &P::raw,
             "Choose whose the raw files are: the same ones for all ranks (shared), or some for each rank (own)."),
      count("raw_files", &P::raw_files, {1, 1e6},
            "Make this many raw files, with raw own for each rank. K1 reads them in turns."),
      count("templates", &P::templates, {1, 1e6}, "Make this many template files, all of which K4 reads on each rank."),
      bytes("template_bytes", &P::template_bytes, {8, 1e9}, "Let a template file have this many bytes."),
      count("subimages", &P::subimages, {1, 1e5}, "Take this many sub-images from each pair of images."),
      count("subimage_side", &P::subimage_side, {1, 1e5}, "Let a sub-image have this many pixels along each side."),
  };
}

Table<SarParameters> sar_conditions() {
  using P = SarParameters;
  return {
      choice("layout", &P::layout,
             "Choose where images lie: each in a file in the directory of its location (files), or all of a location "
             "in one file (containers)."),
      count("seed", &P::seed, {0, 9e15}, "Set the seed of the order of locations and of the places of sub-images."),
      choice("read_back", &P::read_back,
             "Choose whose files a rank reads in K1, K3 and K4, by where the ranks really run."),
      choice("sync", &P::sync,
             "Sync nothing (none), everything at the end of each kernel that writes (close), or each raw file, "
             "template and image when it is written (fsync). With fsync, detections and records are synced at the end "
             "of their phase."),
      choice("cache", &P::cache,
             "Choose what to do before K1, K3 and K4: nothing (none), or drop the files they read from the node's page "
             "cache (drop)."),
      choice("verify", &P::verify, nothing_or_all(), "Choose what to verify of the data read: nothing, or all."),
  };
}

Count all_bytes(const SarParameters& p, const PlannedLayout& layout) {
  const Count subimages = p.subimages, rows = p.rows;
  const Count images = Count(p.grid) * p.grid * p.depth;
  const Count raws = Count(p.raw_files) * (p.raw == SarRaw::own ? static_cast<std::uint64_t>(layout.ranks) : 1);
  const Count group = subimages * p.subimage_side * p.subimage_side * 4;
  return images * (rows * p.columns * 4 + group + subimages * SarShape::record_bytes) +
         raws * rows * p.raw_columns * 8 + Count(p.templates) * p.template_bytes;
}

Status check_sizes(const SarParameters& p, const PlannedLayout& layout, const std::string& pointer) {
  for (const auto& [name, pixels] : {std::pair("rows", p.rows), std::pair("columns", p.columns)})
    if (p.subimage_side > pixels)
      return fail(bad_plan(pointer + "/subimage_side",
                           "must be at most the " + std::to_string(pixels) + " " + name + " of an image"));
  if (all_bytes(p, layout) <= most_file_bytes) return {};
  return fail(bad_plan(pointer + "/depth", "makes more than 4e18 bytes with the other sizes"));
}

class Sar final : public Workload {
 public:
  Sar(const SarParameters& parameters, const StorageContext& context) : state_(parameters, context) {}

  void find_peers() override { find_sources(state_); }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] { return check_alignment(); }}};
    if (!makes_tree(state_.context)) return steps;
    append(steps, steps_to_make_tree(state_.context, state_.dataset));
    steps.push_back({"make directories", [this] { return make_directories(); }});
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return makers.size(); }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override { return makers.at(index)(state_); }

  [[nodiscard]] LocalSteps end(bool whole) override { return steps_to_end_tree(state_.context, state_.dataset, whole); }

 private:
  template <class Phase>
  [[nodiscard]] static std::unique_ptr<PhaseWork> made(const SarState& state) {
    return std::make_unique<Phase>(state);
  }
  using Maker = std::unique_ptr<PhaseWork> (*)(const SarState&);
  static constexpr std::array<Maker, 5> makers{made<GeneratePhase>, made<FormPhase>, made<StorePhase>,
                                               made<RetrievePhase>, made<DetectPhase>};

  /// Rows of sub-images begin at any pixel, and records follow each other.
  [[nodiscard]] Status check_alignment() const {
    if (state_.capabilities.alignment_bytes == 1) return {};
    return fail(environment_error("backend",
                                  "uses direct I/O in units of " + std::to_string(state_.capabilities.alignment_bytes) +
                                      " bytes, but rows of sub-images begin at any pixel; leave direct out"));
  }

  /// Dealt out to the ranks that share the folder.
  [[nodiscard]] Status make_directories() const {
    for (std::uint64_t location = 0; location < state_.files().directory_count(); ++location) {
      if (!state_.makes(location)) continue;
      const std::string name = state_.in_dataset(state_.files().directory_path(location));
      if (auto status = state_.context.backend->make_directory(name); !status) return status;
    }
    return {};
  }

  SarState state_;
};

const Registered<WorkloadEntry> registered_sar{on_storage<SarParameters>({
    .name = "sar",
    .doc = "Stores radar images on a grid of locations, reads pairs of them and parts of them again, and "
           "keeps what was found: the I/O of SSCA #3.",
    .check = check_sar,
    .needs = needs_of_sar,
    .make = workload_of<Sar>,
    .needs_one_folder = [](const SarParameters& p) { return p.read_back != ReadBack::own; },
})};

}  // namespace

Table<SarParameters> SarParameters::table() { return joined<SarParameters>(sar_sizes(), sar_conditions()); }

SarShape SarParameters::shape(std::uint64_t ranks) const {
  return {ranks, grid, depth, rows, columns, raw_columns, subimages, subimage_side, seed};
}

ImageGrid SarParameters::files(std::uint64_t ranks) const {
  return {ranks, grid * grid, depth, layout, raw_files, raw == SarRaw::shared, templates};
}

Status check_sar(const SarParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                 const std::string& pointer) {
  if (auto status = check_sizes(p, layout, pointer); !status) return status;
  if (p.verify == Verify::full && !capabilities.data)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  if (p.sync != SarSync::none && !capabilities.metadata)
    return fail(bad_plan(pointer + "/sync", "must be none: this backend has no metadata operations"));
  return {};
}

/// Groups and records as if each rank had the locations of the one that has most: whose it reads is known later.
Needs needs_of_sar(const SarParameters& p, const PlannedLayout& layout) {
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const SarShape shape = p.shape(ranks);
  const ImageGrid files = p.files(ranks);
  const Count pairs = shape.pairs_of(0);
  Needs needs = p.layout == ImageLayout::files ? file_needs(shape.images(), shape.image_bytes())
                                               : file_needs(shape.locations(), shape.depth * shape.image_bytes());
  needs = needs + file_needs(ranks, pairs * shape.group_bytes()) + file_needs(ranks, pairs * shape.records_bytes()) +
          file_needs(Count(files.raw_writers()) * files.raw_files, shape.raw_bytes()) +
          file_needs(files.templates, p.template_bytes);
  return {needs.bytes, needs.inodes + files.directory_count(), 1};
}

}  // namespace ullage
