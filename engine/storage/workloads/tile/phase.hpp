// SPDX-License-Identifier: Apache-2.0
// One phase of workload `tile` on one rank: all its frames, written or read through its view of the file.
#pragma once

#include "base/clock.hpp"
#include "base/count.hpp"
#include "mpi/comm.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/position_contents.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/tile/tile.hpp"
#include "storage/workloads/tile/tile_file.hpp"

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

inline constexpr std::size_t most_named_ranks = 16;

inline double seconds_since(std::int64_t begun_ns) { return static_cast<double>(now_ns() - begun_ns) * 1e-9; }

/// x, y and z, as people name sizes.
inline Json along_axes(const TileShape& shape, std::uint64_t TileAxis::* member) {
  Json sizes = Json::array();
  for (std::size_t axis = 3; axis-- > (shape.has_depth() ? 0U : 1U);) sizes.push_back(shape.axes[axis].*member);
  return sizes;
}

/// Phase `write` or `read`; an operation is one frame of this rank. A rank without a tile waits. Gauges: open_s and
/// view_s, the parts of the opening.
class TilePhase final : public PhaseWork {
 public:
  TilePhase(const TileState& state, Direction direction)
      : state_(state),
        direction_(direction),
        contents_(state.context.run_key),
        ring_(*state.context.buffer, state.shape.tile_bytes()),
        frames_in_memory_(ring_.count_in(state.parameters.buffers, state.shape.frames)) {
    if (state_.has_tile()) ring_.allocate(frames_in_memory_);
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = word_of(direction_),
                   .access = writes() ? Access::write : Access::read,
                   .collective = together(),
                   .collective_sync = true,
                   .clock_stops = true,
                   .bytes_at_once = state_.shape.tile_bytes()};
    if (!writes()) {
      info.cache_control = word_of(state_.parameters.cache);
      info.data_of = "own";
    }
    if (state_.holds_data() && state_.context.world->topology().leader()) info.files.push_back(state_.file_name());
    return info;
  }

  /// Reading begins with buffers that nothing was read into, on a file of the right size.
  [[nodiscard]] Status before() override {
    const Status ready = state_.has_tile() ? ready_tiles(*state_.context.backend, opening()) : Status{};
    if (writes()) return ready;
    ring_.poison();
    if (!state_.holds_data()) return ready;
    Status status = check_size();
    keep_first(status, ready);
    const bool drops = state_.parameters.cache == DropCache::drop && state_.context.world->topology().leader();
    if (drops && status) status = state_.context.backend->drop_cached(state_.file_name());
    state_.context.world->all().barrier();
    return status;
  }

  [[nodiscard]] std::uint64_t operations() const override { return state_.has_tile() ? state_.shape.frames : 0; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    first_ = first;
    prepared_ = std::min(most, frames_in_memory_);
    if (!writes()) return prepared_;
    const std::uint64_t row_bytes = state_.shape.row_bytes();
    for (std::uint64_t frame = first; frame < first + prepared_; ++frame) {
      const auto tile = ring_[frame];
      for (std::uint64_t row = 0; row < state_.shape.rows(); ++row)
        contents_.fill(tile.subspan(row * row_bytes, row_bytes),
                       state_.shape.row_offset_bytes(state_.tile(), frame, row));
    }
    return prepared_;
  }

  [[nodiscard]] Status open() override {
    if (!state_.has_tile()) return {};
    const std::int64_t begun = now_ns();
    auto file = open_tiles(*state_.context.backend, opening());
    open_s_ = seconds_since(begun);
    if (!file) return fail(file.error());
    file_ = std::move(*file);
    const std::int64_t opened = now_ns();
    Status status = file_->look_at_tile();
    view_s_ = seconds_since(opened);
    return status;
  }

  /// Is done also by a rank in error where calls are collective: its file takes part with nothing.
  [[nodiscard]] Status execute(Meter& meter) override {
    if (!file_) return {};
    Status first;
    for (std::uint64_t frame = first_; frame < first_ + prepared_; ++frame) {
      keep_first(first, move(frame));
      if (!first && !together()) break;
      if (first && !meter.completed(state_.shape.tile_bytes()) && !together()) break;
    }
    return first;
  }

  [[nodiscard]] bool wants_sync() const override { return writes() && state_.parameters.sync; }
  [[nodiscard]] Status sync() override { return file_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override {
    if (!file_) return {};
    Status status = close_and_keep_hints(*file_, hints_granted_);
    file_.reset();
    return status;
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    if (!state_.holds_data()) return {};
    if (writes()) return Verification::of(check_size());
    Verification found;
    if (state_.parameters.verify == Verify::none) return found;
    const std::uint64_t held = state_.shape.frames - std::min(frames_in_memory_, state_.shape.frames);
    for (std::uint64_t frame = held; frame < executed; ++frame) verify_frame(frame, progress, found);
    if (state_.parameters.verify == Verify::full && held > 0) read_again(held, progress, found);
    return found;
  }

  [[nodiscard]] Counters counters() const override {
    if (state_.is_exact()) return {};
    return {{"added_bytes", added_bytes_}};
  }

  [[nodiscard]] Gauges gauges() const override { return {{"open_s", open_s_}, {"view_s", view_s_}}; }
  void add_facts(Json& facts) const override {
    const TileShape& shape = state_.shape;
    Json surplus = Json::array();
    const auto ranks = static_cast<std::uint64_t>(state_.context.world->size());
    for (std::uint64_t rank = shape.tiles(); rank < ranks && surplus.size() < most_named_ranks; ++rank)
      surplus.push_back(rank);
    facts = {{"tiles", along_axes(shape, &TileAxis::tiles)},
             {"tile", along_axes(shape, &TileAxis::tile)},
             {"overlap", along_axes(shape, &TileAxis::overlap)},
             {"element_bytes", shape.element_bytes},
             {"header_bytes", shape.header_bytes},
             {"frames", shape.frames},
             {"frame_bytes", shape.frame_bytes()},
             {"file_bytes", shape.file_bytes()},
             {"size_check", state_.is_exact() ? "exact" : "at least"},
             {"frames_in_memory", frames_in_memory_},
             {"calls", word_of(state_.parameters.calls)},
             {"verify", word_of(state_.parameters.verify)},
             {"surplus_ranks", std::move(surplus)},
             {"surplus_count", ranks - std::min(ranks, shape.tiles())}};
  }

  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return hints_granted_; }

 private:
  /// It begins on all ranks that have a tile, or on none.
  [[nodiscard]] TileOpening opening() const {
    const OpenRequest request{.name = state_.file_name(),
                              .mode = writes() ? OpenMode::create : OpenMode::read,
                              .shared = true,
                              .expected_bytes = state_.shape.file_bytes(),
                              .unique = true,
                              .among = &*state_.group};
    return {request, &state_.shape, state_.tile(), together()};
  }

  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }
  [[nodiscard]] bool together() const { return state_.parameters.calls == TileCalls::collective; }
  [[nodiscard]] Status move(std::uint64_t frame) { return file_->move(direction_, frame, ring_[frame]); }
  /// The backend looks at nothing but its data, of which a library's file is more.
  [[nodiscard]] Result<std::uint64_t> find_size() const {
    if (state_.is_exact() || state_.context.folder == nullptr) {
      const auto extents = state_.context.backend->inspect(state_.file_name());
      if (!extents) return fail(extents.error());
      return extents->size_bytes;
    }
    return size_of_file(state_.context, state_.file_name());
  }

  /// The file must be as long as the formula says, to the byte. HDF5 keeps a header and the description of the array in
  /// the file as well, whose size depends on its version: there the formula is the least size.
  [[nodiscard]] Status check_size() {
    if (!state_.context.world->root()) return {};
    const auto found = find_size();
    if (!found) return fail(found.error());
    const std::uint64_t wanted = state_.shape.file_bytes();
    if (*found == wanted || (*found > wanted && !state_.is_exact())) {
      added_bytes_ = *found - wanted;
      return {};
    }
    return fail(environment_error(state_.file_name(), "is " + std::to_string(*found) + " bytes long, must be " +
                                                          (state_.is_exact() ? "" : "at least ") +
                                                          std::to_string(wanted)));
  }

  void verify_frame(std::uint64_t frame, Meter& progress, Verification& found) {
    const auto tile = ring_[frame];
    const std::uint64_t row_bytes = state_.shape.row_bytes();
    for (std::uint64_t row = 0; row < state_.shape.rows(); ++row) {
      const std::uint64_t offset = state_.shape.row_offset_bytes(state_.tile(), frame, row);
      const auto checked = contents_.check(tile.subspan(row * row_bytes, row_bytes), offset);
      found.bad_blocks += checked.bad_blocks;
      if (checked.first && !found.first) {
        found.first = wrong_data(state_.context, state_.file_name(), *checked.first);
        found.first->text += " (frame " + std::to_string(frame) + ", row " + std::to_string(row) + " of the tile" +
                             (state_.is_exact() ? "" : "; the offset is in the dataset") + ")";
      }
      progress.report_alive();
    }
    found.verified_bytes += tile.size();
  }

  /// Collective among the ranks with a tile: the first `frames`, whose buffers were used again.
  void read_again(std::uint64_t frames, Meter& progress, Verification& found) {
    if (!state_.has_tile()) return;
    progress.start(now_ns());
    const double open_s = open_s_;
    const double view_s = view_s_;
    Status status = open();
    for (std::uint64_t frame = 0; file_ && frame < frames && (status || together()); ++frame) {
      Payload::poison(ring_[frame]);
      keep_first(status, move(frame));
      (void)progress.completed(state_.shape.tile_bytes());
      if (status) verify_frame(frame, progress, found);
    }
    keep_first(status, close());
    open_s_ = open_s;
    view_s_ = view_s;
    if (!status && !found.first) found.first = status.error();
  }

  const TileState& state_;
  Direction direction_;
  PositionContents contents_;
  BufferRing ring_;
  std::uint64_t frames_in_memory_;
  std::unique_ptr<TileFile> file_;
  std::uint64_t added_bytes_ = 0;  // to those of the formula, by the library
  double open_s_ = 0;
  double view_s_ = 0;
  Map hints_granted_;
};

}  // namespace ullage
