// SPDX-License-Identifier: Apache-2.0
// One phase of workload `tile` on one rank: all its frames, written or read through its view of the file.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "mpi/comm.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/manifest.hpp"
#include "storage/position_contents.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/tile/tile.hpp"
#include "storage/workloads/tile/tile_file.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Holds what the phases of a repetition share.
struct TileState {
  TileParameters parameters;
  TileShape shape;
  StorageContext context;
  DatasetEntry dataset;
  std::optional<mpi::Comm> group;  // ranks with a tile; of the others, those without

  [[nodiscard]] std::uint64_t tile() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] bool has_tile() const { return tile() < shape.tiles(); }
  [[nodiscard]] bool holds_data() const { return context.backend->capabilities().data; }
  /// The file has the bytes of the formula and no others; a library with arrays adds its own.
  [[nodiscard]] bool is_exact() const { return context.backend->capabilities().views; }
  [[nodiscard]] std::string file_name() const { return dataset.file_name(0); }
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_tile_phase(const TileState& state, TilePhaseKind kind);

}  // namespace ullage
