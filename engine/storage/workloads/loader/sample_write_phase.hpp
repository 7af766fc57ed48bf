// SPDX-License-Identifier: Apache-2.0
// Phase `write` of workload `loader`: the ranks make the files of the training set, each its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/buffer_ring.hpp"
#include "storage/workloads/loader/loader_state.hpp"
#include "work/phase_work.hpp"

namespace ullage {

class SampleWritePhase final : public PhaseWork {
 public:
  explicit SampleWritePhase(const LoaderState& state);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  /// Pieces of samples.
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return state_.capabilities.metadata; }
  /// Everything at once, when all ranks of the node are done.
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
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
  [[nodiscard]] std::uint64_t file_of(std::uint64_t own) const;
  [[nodiscard]] std::uint64_t own_files() const;
  [[nodiscard]] Piece next_piece(std::span<std::byte> buffer);
  [[nodiscard]] Status write(const Piece& piece, Meter& meter);

  const LoaderState& state_;
  PositionContents contents_;
  BufferRing slots_;
  Cursor cursor_;
  std::vector<Piece> pieces_;
  std::unique_ptr<File> file_;
  std::uint64_t files_made_ = 0;
};

}  // namespace ullage
