// SPDX-License-Identifier: Apache-2.0
// The words of workload `tile`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/tile/shape.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class TilePhaseKind { write, read };
enum class TileCalls { independent, collective };
enum class TileVerify { none, kept, full };
enum class TileCache { none, drop };

struct TileParameters {
  std::uint64_t tiles_x = 1;
  std::uint64_t tiles_y = 1;
  std::uint64_t tiles_z = 1;
  std::uint64_t tile_x = 1024;
  std::uint64_t tile_y = 1024;
  std::uint64_t tile_z = 1;
  std::uint64_t overlap_x = 0;
  std::uint64_t overlap_y = 0;
  std::uint64_t overlap_z = 0;
  std::uint64_t element_bytes = 3;
  std::uint64_t header_bytes = 0;
  std::uint64_t frames = 1;
  TileCalls calls = TileCalls::independent;
  std::vector<TilePhaseKind> phases{TilePhaseKind::write, TilePhaseKind::read};
  bool sync = true;
  std::uint64_t buffers = std::uint64_t{32} << 20;
  TileVerify verify = TileVerify::full;
  TileCache cache = TileCache::none;

  [[nodiscard]] static const Table<TileParameters>& table();

  [[nodiscard]] TileShape shape() const;
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_tile(const TileParameters& parameters, const Capabilities& capabilities,
                                const PlannedLayout& layout, const std::string& pointer);
/// Checks the same of the backend itself, whose parameters decide whether arrays are transferred collectively.
[[nodiscard]] Status check_tile_backend(const TileParameters& parameters, const Capabilities& capabilities);
/// Room for the frames; the header is never written, and takes none.
[[nodiscard]] Needs needs_of_tile(const TileParameters& parameters);

[[nodiscard]] std::string word_of(TilePhaseKind kind);
[[nodiscard]] std::string word_of(TileCalls calls);
[[nodiscard]] std::string word_of(TileVerify verify);
[[nodiscard]] std::string word_of(TileCache cache);

}  // namespace ullage
