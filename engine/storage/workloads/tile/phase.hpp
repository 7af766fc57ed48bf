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

/// Phase `write` or `read`; an operation is one frame of this rank. A rank without a tile waits. Gauges: open_s and
/// view_s, the parts of the opening.
class TilePhase final : public PhaseWork {
 public:
  TilePhase(const TileState& state, TilePhaseKind kind);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return state_.has_tile() ? state_.shape.frames : 0; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return writes() && state_.parameters.sync; }
  [[nodiscard]] Status sync() override { return file_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override { return {{"open_s", open_s_}, {"view_s", view_s_}}; }
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return hints_granted_; }

 private:
  [[nodiscard]] TileOpening opening() const;
  [[nodiscard]] bool writes() const { return kind_ == TilePhaseKind::write; }
  [[nodiscard]] bool together() const { return state_.parameters.calls == TileCalls::collective; }
  [[nodiscard]] Status move(std::uint64_t frame) {
    return file_->move(writes() ? Direction::write : Direction::read, frame, ring_[frame]);
  }
  [[nodiscard]] Result<std::uint64_t> find_size() const;
  [[nodiscard]] Status check_size();
  void verify_frame(std::uint64_t frame, Meter& progress, Verification& found);
  void read_again(std::uint64_t frames, Meter& progress, Verification& found);

  const TileState& state_;
  TilePhaseKind kind_;
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
