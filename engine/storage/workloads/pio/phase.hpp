// SPDX-License-Identifier: Apache-2.0
// One phase of workload `pio` on one rank: a pattern and an operation, bound to open files and buffers.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "storage/backend.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/pio/pattern.hpp"
#include "storage/workloads/pio/pio.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Holds what the phases of a repetition share on this rank.
struct PioState {
  PioParameters parameters;
  StorageContext context;
  DatasetEntry entry;
  Capabilities capabilities;
  std::uint64_t generation = 0;  // of the data: +1 with each phase that makes it anew
  std::uint64_t changes = 0;     // what read-modify-write has done to the first word of each 512 bytes, by exclusive or

  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(context.world->size()); }
  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::string file_name() const { return entry.file_name(entry.per_process ? rank() : 0); }
  [[nodiscard]] PayloadSpec payload_spec(std::uint64_t unit_bytes) const;
};

/// Makes the read data of a piece other data, and back again.
void change_pio_data(std::span<std::byte> piece, std::uint64_t change);

class PioPhase final : public PhaseWork {
 public:
  PioPhase(PioState& state, PioOperation operation);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return writes() && parameters().sync; }
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override;

 private:
  /// Pieces [first, end) of the rank, which one call moves from or to `data`.
  struct Call {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::span<std::byte> data;
  };

  [[nodiscard]] const PioParameters& parameters() const { return state_.parameters; }
  [[nodiscard]] bool writes() const { return operation_ != PioOperation::read && operation_ != PioOperation::reread; }
  [[nodiscard]] bool makes_data() const {
    return operation_ == PioOperation::write || operation_ == PioOperation::rewrite;
  }
  [[nodiscard]] bool changes() const { return operation_ == PioOperation::read_modify_write; }
  [[nodiscard]] bool sees() const { return parameters().through == PioThrough::view; }
  /// Ranks go through their calls together.
  [[nodiscard]] bool in_step() const {
    return sees() ? parameters().collective : state_.capabilities.collective && !state_.entry.per_process;
  }
  [[nodiscard]] bool starts_cold() const { return operation_ == PioOperation::read || changes(); }
  [[nodiscard]] std::uint64_t writer() const { return state_.entry.per_process ? state_.rank() : 0; }
  [[nodiscard]] Call call_at(std::uint64_t index) const;
  void fill(const Call& call) const;
  void check(const Call& call, Verification& verification) const;
  void check_piece(const PioPiece& piece, std::span<std::byte> data, Verification& verification) const;
  [[nodiscard]] Status refuse_holes() const;
  [[nodiscard]] OpenMode mode() const;
  [[nodiscard]] OpenRequest request(OpenMode mode) const;
  [[nodiscard]] Status open_views();
  [[nodiscard]] Status move_through_view(Meter& meter);
  [[nodiscard]] Status move_call(const Call& call);
  void change(const Call& call) const;
  [[nodiscard]] Status change_at_offsets(Meter& meter);
  void list_again(std::uint64_t first, std::uint64_t n, std::size_t slot);
  void read_again(std::uint64_t first, Meter& progress, Verification& verification);

  PioState& state_;
  PioOperation operation_;
  PioPattern pattern_;
  Payload payload_;
  std::uint64_t change_ = 0;  // of this phase
  std::uint64_t calls_;       // of this rank
  BufferRing ring_;
  std::vector<Extent> extents_;
  std::vector<Call> prepared_calls_;
  std::optional<PioView> view_;
  std::unique_ptr<File> file_;
  std::unique_ptr<File> read_file_;  // of read-modify-write
  std::unique_ptr<ViewedFile> viewed_;
  std::unique_ptr<ViewedFile> read_viewed_;
  std::unique_ptr<Meter> unaccounted_;  // of its reads, which are part of an operation
  Map hints_granted_;
};

}  // namespace ullage
