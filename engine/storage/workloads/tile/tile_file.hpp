// SPDX-License-Identifier: Apache-2.0
// The frames of a rank's tile in an open file: through a view of it, or as parts of an array.
#pragma once

#include "base/clock.hpp"
#include "base/meter.hpp"
#include "base/pinned.hpp"
#include "base/std.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/tile/tile.hpp"

namespace ullage {

/// Says how a file is to be opened. `together`: the calls are of all ranks that open it.
struct TileOpening {
  OpenRequest request;
  const TileShape* shape = nullptr;
  std::uint64_t tile = 0;
  bool together = false;
};

/// Has the rules of File for errors and collective calls: a rank in error takes part with nothing.
class TileFile : public Interface {
 public:
  /// Collective. Once, before the first frame.
  [[nodiscard]] virtual Status look_at_tile() = 0;
  /// The frames come in their order, from the first one on.
  [[nodiscard]] virtual Status move(Direction direction, std::uint64_t number, std::span<std::byte> frame) = 0;
  [[nodiscard]] virtual Status sync() = 0;
  [[nodiscard]] virtual Status close() = 0;
  [[nodiscard]] virtual Map hints_granted() const = 0;
};

// These are the most bytes of one call: counts are ints, and kernels move less than 2 GiB at once.
inline constexpr std::size_t most_call_bytes = std::size_t{1} << 30;

class ViewedTiles final : public TileFile {
 public:
  ViewedTiles(std::unique_ptr<ViewedFile> file, const TileOpening& opening)
      : file_(std::move(file)), view_(opening.shape->view_of(opening.tile)), together_(opening.together) {}

  [[nodiscard]] Status look_at_tile() override { return file_->set_view(view_, {}); }

  [[nodiscard]] Status move(Direction direction, std::uint64_t, std::span<std::byte> frame) override {
    const Pointer pointer = together_ ? Pointer::together : Pointer::individual;
    Status first;
    for (std::size_t done = 0; done < frame.size() && (first || together_);) {
      const auto part = frame.subspan(done, std::min(frame.size() - done, most_call_bytes));
      Status moved = file_->move(direction, pointer, part);
      keep_first(first, std::move(moved));
      done += part.size();
    }
    return first;
  }

  [[nodiscard]] Status sync() override { return file_->sync(); }
  [[nodiscard]] Status close() override { return file_->close(); }
  [[nodiscard]] Map hints_granted() const override { return file_->hints_granted(); }

 private:
  std::unique_ptr<ViewedFile> file_;
  FileView view_;
  bool together_;
};

inline constexpr const char* frames_array = "frames";

/// Each rank selects its tile of a frame, so that the library makes the view.
class TileArrays final : public TileFile {
 public:
  TileArrays(std::unique_ptr<ArrayFile> file, const TileOpening& opening) : file_(std::move(file)) {
    const TileShape& shape = *opening.shape;
    for (const TilePart& part : shape.parts_of(opening.tile, most_call_bytes)) {
      begins_.push_back(static_cast<std::size_t>(part.begin_bytes));
      std::vector<ArrayRange>& within = ranges_.emplace_back();
      for (std::size_t axis = shape.has_depth() ? 0 : 1; axis < part.ranges.size(); ++axis)
        within.push_back(part.ranges[axis]);
      within.back().begin *= shape.element_bytes;
      within.back().extent *= shape.element_bytes;
    }
    operations_.resize(begins_.size());
    unaccounted_.use_histogram(false);
    unaccounted_.start(now_ns());
  }

  [[nodiscard]] static ArraySpec spec_of(const TileShape& shape) {
    ArraySpec spec{frames_array, ElementType::byte, {shape.frames}};
    for (std::size_t axis = shape.has_depth() ? 0 : 1; axis < shape.axes.size(); ++axis)
      spec.dimensions.push_back(shape.axes[axis].elements());
    spec.dimensions.back() *= shape.element_bytes;
    return spec;
  }

  [[nodiscard]] Status look_at_tile() override { return {}; }

  /// The parts of a frame are one operation, which is the caller's to account for.
  [[nodiscard]] Status move(Direction direction, std::uint64_t number, std::span<std::byte> frame) override {
    for (std::size_t i = 0; i < operations_.size(); ++i) {
      operations_[i] = {0, number, 1, frame.data() + begins_[i]};
      operations_[i].within = ranges_[i];
    }
    return file_->transfer(direction, operations_, unaccounted_);
  }

  [[nodiscard]] Status sync() override { return file_->sync(); }
  [[nodiscard]] Status close() override { return file_->close(); }
  [[nodiscard]] Map hints_granted() const override { return file_->hints_granted(); }

 private:
  std::unique_ptr<ArrayFile> file_;
  std::vector<std::size_t> begins_;  // in the memory of a frame
  std::vector<std::vector<ArrayRange>> ranges_;
  std::vector<ArrayRows> operations_;
  Meter unaccounted_;
};

/// Collective over the ranks of the request. Through a view where the backend has views, else as an array of bytes with
/// the dimensions of the data set behind that of the frames.
[[nodiscard]] inline Result<std::unique_ptr<TileFile>> open_tiles(Backend& backend, const TileOpening& opening) {
  if (backend.capabilities().views) {
    auto file = backend.open_viewed(opening.request, {});
    if (!file) return fail(file.error());
    return std::make_unique<ViewedTiles>(std::move(*file), opening);
  }
  const ArraySpec spec = TileArrays::spec_of(*opening.shape);
  auto file = backend.open_arrays(opening.request, {&spec, 1});
  if (!file) return fail(file.error());
  return std::make_unique<TileArrays>(std::move(*file), opening);
}

/// What can be done of it before the timer.
[[nodiscard]] inline Status ready_tiles(Backend& backend, const TileOpening& opening) {
  const ArraySpec spec = TileArrays::spec_of(*opening.shape);
  return backend.ready_open(opening.request, {&spec, 1});
}

}  // namespace ullage
