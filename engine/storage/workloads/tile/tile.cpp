// SPDX-License-Identifier: Apache-2.0
// Workload `tile`: a dense data set in two or three dimensions, a tile of it for each rank, as MPI Tile I/O has it.
#include "storage/workloads/tile/tile.hpp"

#include <cmath>

#include "storage/workloads/tile/phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr double most_elements = 2147483647;  // of a dimension: MPI counts them in ints

Table<TileParameters> tile_sizes() {
  using P = TileParameters;
  const Bounds some{1, most_elements};
  return {
      count("tiles_x", &P::tiles_x, some, "Set the number of tiles in direction x, which is contiguous in the file."),
      count("tiles_y", &P::tiles_y, some, "Set the number of tiles in direction y."),
      count("tiles_z", &P::tiles_z, some, "Set the number of tiles in direction z."),
      count("tile_x", &P::tile_x, some, "Set the elements of a tile in direction x."),
      count("tile_y", &P::tile_y, some, "Set the elements of a tile in direction y."),
      count("tile_z", &P::tile_z, some, "Set the elements of a tile in direction z."),
      count("overlap_x", &P::overlap_x, {0, most_elements},
            "Let neighbours in direction x have so many elements in common."),
      count("overlap_y", &P::overlap_y, {0, most_elements},
            "Let neighbours in direction y have so many elements in common."),
      count("overlap_z", &P::overlap_z, {0, most_elements},
            "Let neighbours in direction z have so many elements in common."),
      bytes("element_bytes", &P::element_bytes, {1, most_elements}, "Let an element take this many bytes."),
      bytes("header_bytes", &P::header_bytes, {0, 9e15},
            "Begin the first frame at this byte of the file. Nothing is written before it."),
      count("frames", &P::frames, {1, 1e9}, "Move this many frames, one behind the other in the file."),
  };
}

Table<TileParameters> tile_conditions() {
  using P = TileParameters;
  return {
      choice("calls", &P::calls,
             "Move a tile by a call of its rank alone (independent), or by one call of all ranks (collective)."),
      choices("phases", &P::phases, "Choose the phases: write, and read after it."),
      flag("sync", &P::sync, "Sync the file after the last frame, within the time of the write phase."),
      bytes("buffers", &P::buffers, {1, 1e12},
            "Keep up to this many bytes of frames in the memory of a rank, and at least one frame."),
      choice("verify", &P::verify,
             "Choose what to verify of the frames read: nothing, those still in the buffers (kept), or all."),
      choice("cache", &P::cache,
             "Choose what to do before reading: nothing (none), or drop the file from the nodes' page caches (drop)."),
  };
}

/// Sizes of one dimension, with the ends of its parameters' names.
struct NamedAxis {
  const char* name;
  TileAxis axis;
};

Status check_axis(const NamedAxis& named, const std::string& pointer) {
  const TileAxis& axis = named.axis;
  if (axis.overlap >= axis.tile && axis.overlap > 0)
    return fail(bad_plan(pointer + "/overlap_" + named.name,
                         "must be below the " + std::to_string(axis.tile) + " elements of a tile"));
  const double elements = static_cast<double>(axis.tiles) * static_cast<double>(axis.tile) -
                          static_cast<double>(axis.tiles - 1) * static_cast<double>(axis.overlap);
  if (elements <= most_elements) return {};
  return fail(bad_plan(pointer + "/tiles_" + named.name,
                       "makes a data set of more than 2147483647 elements in "
                       "direction " +
                           std::string(named.name)));
}

Status check_tile_sizes(const TileParameters& p, const std::string& pointer) {
  const TileShape shape = p.shape();
  Count bytes = Count(p.element_bytes) * p.frames;
  const std::array<NamedAxis, 3> axes{{{"x", shape.axes[2]}, {"y", shape.axes[1]}, {"z", shape.axes[0]}}};
  for (const NamedAxis& named : axes) {
    if (auto status = check_axis(named, pointer); !status) return status;
    bytes = bytes * named.axis.elements();
  }
  if (bytes + p.header_bytes <= most_file_bytes) return {};
  return fail(bad_plan(pointer + "/frames", "makes a file of more than 4e18 bytes"));
}

class Tile final : public Workload {
 public:
  Tile(TileParameters parameters, const StorageContext& context) {
    state_.shape = parameters.shape();
    state_.parameters = std::move(parameters);
    state_.context = context;
    state_.dataset = shared_file_of(context);
  }

  void find_peers() override {
    const mpi::World& world = *state_.context.world;
    state_.group.emplace(world.all().split(state_.has_tile() ? 0 : 1, world.rank()));
  }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check backend", [this] {
                        return check_tile_backend(state_.parameters, state_.context.backend->capabilities());
                      }}};
    if (makes_tree(state_.context)) append(steps, steps_to_make_tree(state_.context, state_.dataset));
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return state_.parameters.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<TilePhase>(state_, state_.parameters.phases[index]);
  }

  [[nodiscard]] LocalSteps end(bool whole) override { return steps_to_end_tree(state_.context, state_.dataset, whole); }

 private:
  TileState state_;
};

const Registered<WorkloadEntry> registered_tile{on_storage<TileParameters>({
    .name = "tile",
    .doc = "Writes and reads a dense data set in two or three dimensions, a tile of it for each rank, "
           "with overlap, frame after frame.",
    .check = check_tile,
    .needs = [](const TileParameters& p, const PlannedLayout&) { return needs_of_tile(p); },
    .make = workload_of<Tile>,
    .needs_one_folder = always,
})};

}  // namespace

Table<TileParameters> TileParameters::table() { return joined<TileParameters>(tile_sizes(), tile_conditions()); }

TileShape TileParameters::shape() const {
  return {.axes = {{{tiles_z, tile_z, overlap_z}, {tiles_y, tile_y, overlap_y}, {tiles_x, tile_x, overlap_x}}},
          .element_bytes = element_bytes,
          .header_bytes = header_bytes,
          .frames = frames};
}

Status check_tile(const TileParameters& p, const Capabilities& capabilities, const PlannedLayout& layout,
                  const std::string& pointer) {
  if (!capabilities.views && !capabilities.arrays)
    return fail(bad_plan(pointer, "tile needs a backend with views of files, such as mpiio, or with arrays, as hdf5"));
  if (!capabilities.views && p.header_bytes > 0)
    return fail(bad_plan(pointer + "/header_bytes", "must be 0: the library of this backend places the data"));
  if (auto status = check_tile_sizes(p, pointer); !status) return status;
  const double tiles = static_cast<double>(p.tiles_x) * static_cast<double>(p.tiles_y) * static_cast<double>(p.tiles_z);
  if (tiles > layout.ranks)
    return fail(bad_plan(pointer + "/tiles_x", "makes " + std::to_string(std::llround(tiles)) +
                                                   " tiles with the others, but there are " +
                                                   std::to_string(layout.ranks) + " ranks: one a tile is needed"));
  if (!begin_with_write(p.phases)) return fail(bad_plan(pointer + "/phases", "must be write, or write and then read"));
  if (!capabilities.data && p.verify != Verify::none && p.phases.size() > 1)
    return fail(bad_plan(pointer + "/verify", "must be none: this backend holds no data"));
  return {};
}

Status check_tile_backend(const TileParameters& p, const Capabilities& capabilities) {
  if (capabilities.views) return {};
  if (p.header_bytes > 0)
    return fail(environment_error("header_bytes", "must be 0: the library of this backend places the data"));
  if (capabilities.collective == (p.calls == TileCalls::collective)) return {};
  return fail(environment_error("calls", "must be " +
                                             std::string(capabilities.collective ? "collective" : "independent") +
                                             ", as the backend's parameter 'collective' says"));
}

Needs needs_of_tile(const TileParameters& p) {
  const TileShape shape = p.shape();
  return file_needs(1, Count(shape.frames) * shape.frame_bytes());
}

}  // namespace ullage
