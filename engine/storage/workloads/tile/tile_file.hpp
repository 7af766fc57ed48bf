// SPDX-License-Identifier: Apache-2.0
// The frames of a rank's tile in an open file: through a view of it, or as parts of an array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "storage/backend.hpp"
#include "storage/workloads/tile/shape.hpp"

namespace ullage {

/// Says how a file is to be opened. `together`: the calls are of all ranks that open it.
struct TileOpening {
  OpenRequest request;
  const TileShape* shape = nullptr;
  std::uint64_t tile = 0;
  bool together = false;
};

/// Has the rules of File for errors and collective calls: a rank in error takes part with nothing.
class TileFile {
 public:
  TileFile() = default;
  TileFile(const TileFile&) = delete;
  TileFile& operator=(const TileFile&) = delete;
  virtual ~TileFile() = default;

  /// Collective. Once, before the first frame.
  [[nodiscard]] virtual Status look_at_tile() = 0;
  /// The frames come in their order, from the first one on.
  [[nodiscard]] virtual Status move(Direction direction, std::uint64_t number, std::span<std::byte> frame) = 0;
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual Status close() = 0;
  [[nodiscard]] virtual Map hints_granted() const = 0;
};

/// Collective over the ranks of the request. Through a view where the backend has views, else as an array of bytes with
/// the dimensions of the data set behind that of the frames.
[[nodiscard]] Result<std::unique_ptr<TileFile>> open_tiles(Backend& backend, const TileOpening& opening);
/// What can be done of it before the timer.
[[nodiscard]] Status ready_tiles(Backend& backend, const TileOpening& opening);

}  // namespace ullage
