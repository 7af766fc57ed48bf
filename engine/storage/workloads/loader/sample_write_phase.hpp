// SPDX-License-Identifier: Apache-2.0
// Phase `write` of workload `loader`: the ranks make the files of the training set, each its own.
#pragma once

#include "storage/buffer_ring.hpp"
#include "storage/workloads/loader/loader_state.hpp"
#include "storage/workloads/loader/sample_reader.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

class SampleWritePhase final : public PhaseWork {
 public:
  explicit SampleWritePhase(const LoaderState& state)
      : state_(state), contents_(state.contents()), slots_(*state.context->buffer, SampleReader::slot_bytes(state), 1) {
    slots_.allocate(slots_.count_in(cached_bytes));
    pieces_.reserve(slots_.count());
  }

  [[nodiscard]] PhaseInfo info() const override {
    return {.name = "write",
            .access = Access::write,
            .collective_sync = wants_sync(),
            .clock_stops = true,
            .bytes_at_once = slots_.distance_bytes()};
  }

  [[nodiscard]] Status before() override {
    return state_.context->backend->make_ready(state_.context->buffer->bytes(), {});
  }

  /// Pieces of samples.
  [[nodiscard]] std::uint64_t operations() const override {
    const std::uint64_t piece = state_.parameters->transfer_bytes;
    std::uint64_t pieces = 0;
    for (std::uint64_t own = 0; own < own_files(); ++own) {
      const std::uint64_t end = state_.files.end_sample(file_of(own));
      for (std::uint64_t sample = state_.files.first_sample(file_of(own)); sample < end; ++sample)
        pieces += (state_.files.sizes().bytes(sample) + piece - 1) / piece;
    }
    return pieces;
  }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t /*first*/, std::uint64_t most) override {
    pieces_.clear();
    for (std::uint64_t i = 0; i < std::min(most, slots_.count()); ++i) pieces_.push_back(next_piece(slots_[i]));
    return pieces_.size();
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    for (const Piece& piece : pieces_) {
      if (auto status = write(piece, meter); !status) return status;
      if (!meter.goes_on()) break;
    }
    return {};
  }

  [[nodiscard]] bool wants_sync() const override { return state_.capabilities.metadata; }

  /// Everything at once, when all ranks of the node are done.
  [[nodiscard]] Status sync() override {
    const mpi::World& world = *state_.context->world;
    world.node().barrier();
    if (!world.topology().leader()) return {};
    return sync_file_system_of(*state_.context->backend, state_.dataset.directory);
  }

  [[nodiscard]] Status close() override {
    if (!file_) return {};
    const Status status = file_->close();
    file_.reset();
    return status;
  }

  [[nodiscard]] Counters counters() const override { return {{"files", files_made_}}; }
  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }

 private:
  struct Piece {
    Extent extent;
    std::string creates;  // the file that begins with it, by name; empty: none does
    std::uint64_t file_bytes = 0;
    bool ends_file = false;
  };
  /// Says where the next piece begins.
  struct Cursor {
    std::uint64_t own_file = 0;
    std::uint64_t sample = 0;  // of all
    std::uint64_t sample_bytes = 0;
    std::uint64_t done_bytes = 0;    // of the sample
    std::uint64_t offset_bytes = 0;  // in the file
  };

  /// The n-th file of this rank.
  /// Files go to the nodes in turn, and within a node to its ranks.
  [[nodiscard]] std::uint64_t file_of(std::uint64_t own) const {
    const mpi::Topology& place = state_.context->world->topology();
    const std::uint64_t of_node =
        own * static_cast<std::uint64_t>(place.ranks_on_node) + static_cast<std::uint64_t>(place.rank_on_node);
    return of_node * static_cast<std::uint64_t>(place.nodes) + static_cast<std::uint64_t>(place.node);
  }

  [[nodiscard]] std::uint64_t own_files() const {
    const std::uint64_t files = state_.files.files();
    const std::uint64_t first = file_of(0);
    return first < files ? (files - first - 1) / (file_of(1) - first) + 1 : 0;
  }

  [[nodiscard]] Piece next_piece(std::span<std::byte> buffer) {
    const std::uint64_t file = file_of(cursor_.own_file);
    Piece piece;
    if (cursor_.offset_bytes == 0) {
      cursor_.sample = state_.files.first_sample(file);
      piece.creates = state_.dataset.file_name(file);
      piece.file_bytes = state_.files.file_bytes(file);
    }
    if (cursor_.done_bytes == 0) cursor_.sample_bytes = state_.files.sizes().bytes(cursor_.sample);
    const auto bytes = static_cast<std::size_t>(
        std::min(cursor_.sample_bytes - cursor_.done_bytes, state_.parameters->transfer_bytes));
    contents_.fill(buffer.first(bytes), state_.position_of(file, cursor_.offset_bytes));
    piece.extent = {cursor_.offset_bytes, bytes, buffer.data()};
    cursor_.done_bytes += bytes;
    cursor_.offset_bytes += bytes;
    if (cursor_.done_bytes < cursor_.sample_bytes) return piece;
    cursor_.done_bytes = 0;
    if (++cursor_.sample < state_.files.end_sample(file)) return piece;
    piece.ends_file = true;
    cursor_.offset_bytes = 0;
    ++cursor_.own_file;
    return piece;
  }

  [[nodiscard]] Status write(const Piece& piece, Meter& meter) {
    if (!piece.creates.empty()) {
      const OpenRequest request{.name = piece.creates, .mode = OpenMode::create, .expected_bytes = piece.file_bytes};
      if (auto status = take_into(file_, state_.context->backend->open(request)); !status) return status;
      ++files_made_;
    }
    if (auto status = file_->transfer(Direction::write, {&piece.extent, 1}, meter); !status) return status;
    return piece.ends_file ? close() : Status{};
  }

  const LoaderState& state_;
  PositionContents contents_;
  BufferRing slots_;
  Cursor cursor_;
  std::vector<Piece> pieces_;
  std::unique_ptr<File> file_;
  std::uint64_t files_made_ = 0;
};

}  // namespace ullage
