// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-transfer`: its words, and its phase on one rank.
#pragma once

#include <unistd.h>

#include "storage/buffer_ring.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/dataset.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/pattern.hpp"
#include "work/entry.hpp"

namespace ullage {

struct MixedTransferParameters {
  std::uint64_t transfer_bytes = 4096;
  std::uint64_t operations = 10'000;
  double read_share = 1;
  Pick pick = Pick::random;
  double zipf_theta = 1;
  std::uint64_t seed = 1;
  ReadBack read_back = ReadBack::own;
  int read_shift = 1;
  bool sync = true;
  double stonewall_s = 0;
  bool wear_out = false;
  double wear_out_limit_s = 0;
  CacheControl cache = CacheControl::advise;
  Verify verify = Verify::kept;

  [[nodiscard]] static Table<MixedTransferParameters> table();
  [[nodiscard]] bool reads() const { return read_share > 0; }
  [[nodiscard]] bool writes() const { return read_share < 1; }
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_mixed_transfer(const MixedTransferParameters& parameters, const Capabilities& capabilities,
                                          const std::string& pointer);

// The phase of workload `mixed-transfer` on one rank: pattern, contents and buffers bound to an open file.

/// Holds what is known of the dataset once it is found, on this rank.
struct MixedTransferState : TransferFiles {
  const MixedTransferParameters* parameters = nullptr;
  TransferShape written;
  std::uint64_t written_operations = 0;  // of each rank that are there
  PayloadSpec payload;

  [[nodiscard]] std::string file_name() const { return file_of(source_rank); }

  [[nodiscard]] MixedTransferShape shape() const {
    return {written,          written_operations,     parameters->transfer_bytes,
            parameters->pick, parameters->zipf_theta, parameters->read_share,
            parameters->seed};
  }
};

inline constexpr std::uint64_t most_mixed_slots = 4096;
inline constexpr std::uint64_t most_slot_bytes = std::uint64_t{16} << 20;

class MixedTransferPhase final : public PhaseWork {
 public:
  explicit MixedTransferPhase(const MixedTransferState& state)
      : state_(state),
        pattern_(state.shape(), static_cast<std::uint64_t>(state.context->world->rank()),
                 static_cast<std::uint64_t>(state.source_rank)),
        payload_(state.payload),
        ring_(*state.context->buffer, state.parameters->transfer_bytes,
              std::max<std::size_t>(64, state.capabilities.alignment_bytes)) {
    ring_.allocate(std::min(ring_.count_in(most_slot_bytes, most_mixed_slots), state.parameters->operations));
    extents_.reserve(ring_.count());
    extent_kinds_.reserve(ring_.count());
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = "mixed", .access = parameters().writes() ? Access::write : Access::read};
    tell_wall(parameters(), info);
    info.cache_control = state_.capabilities.direct ? "direct" : word_of(parameters().cache);
    if (parameters().reads()) info.data_of = state_.data_of;
    if (mixes()) info.parts = {"read", "write"};
    if (state_.looks()) info.files.push_back(state_.file_name());
    tell_whose(parameters().read_back, state_.data_of, info,
               {"every rank works on its own data, since there is no other",
                "there is one node: ranks work on what another rank of the same node wrote"});
    return info;
  }

  [[nodiscard]] Status allocate() override {
    Status status = state_.context->backend->make_ready(state_.context->buffer->bytes(), {});
    for (const Kind kind : kinds_moved()) keep_first(status, state_.context->backend->ready_open(request_for(kind)));
    return status;
  }

  [[nodiscard]] Status before() override {
    Status status = refuse_holes();
    keep_first(status, state_.control_cache(parameters().cache));  // collective: also by a rank whose file was refused
    return status;
  }

  [[nodiscard]] std::uint64_t operations() const override { return parameters().operations; }

  /// A position may be read twice, so every buffer is poisoned again: what an earlier read left must not pass for a
  /// later one's data.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    extents_.clear();
    extent_kinds_.clear();
    const std::uint64_t end = first + std::min(most, ring_.count());
    for (std::uint64_t i = first; i < end; ++i) {
      const MixedTransferPattern::Step step = pattern_.at(i);
      const auto buffer = ring_[i];
      if (!step.reads)
        payload_.fill(buffer, static_cast<std::uint64_t>(state_.source_rank), step.offset_bytes);
      else if (verifies())
        Payload::poison(buffer);
      extents_.push_back({step.offset_bytes, buffer.size(), buffer.data()});
      extent_kinds_.push_back(step.reads ? reading : writing);
    }
    prepared_ = std::max(prepared_, end);
    return extents_.size();
  }

  [[nodiscard]] Status open() override {
    Status first;
    for (const Kind kind : kinds_moved()) {
      auto file = state_.context->backend->open(request_for(kind));
      keep_first(first, file ? Status{} : fail(file.error()));
      if (file) files_.at(kind) = std::move(*file);
    }
    return first;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (!mixes()) return move(parameters().reads() ? reading : writing, extents_, meter);
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      const std::int64_t begun_ns = meter.last_ns();
      if (auto status = move(extent_kinds_[i], std::span(extents_).subspan(i, 1), meter); !status) return status;
      meter.add_part(extent_kinds_[i], meter.last_ns() - begun_ns);
      if (!meter.goes_on()) break;
    }
    return {};
  }

  [[nodiscard]] bool wants_sync() const override { return parameters().writes() && parameters().sync; }
  [[nodiscard]] Status sync() override { return files_[writing] ? files_[writing]->sync() : Status{}; }

  [[nodiscard]] Status close() override {
    Status first;
    for (auto& file : files_) {
      if (!file) continue;
      keep_first(first, close_and_keep_hints(*file, hints_granted_));
      file.reset();
    }
    return first;
  }

  /// Looks at the operations whose buffers were not made ready for later ones, which a stonewall may have kept back.
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    Verification verification;
    progress.start(now_ns());
    for (std::uint64_t i = prepared_ - std::min(prepared_, ring_.count()); verifies() && i < executed; ++i) {
      const MixedTransferPattern::Step step = pattern_.at(i);
      if (!step.reads) continue;
      const auto found = ring_[i];
      add_check(verification, found.size(),
                payload_.check(found, static_cast<std::uint64_t>(state_.source_rank), step.offset_bytes),
                [this](const Mismatch& wrong) { return wrong_data(*state_.context, state_.file_name(), wrong); });
      (void)progress.completed(found.size());
    }
    return verification;
  }

  [[nodiscard]] Counters counters() const override {
    return {{"reads", done_[reading]}, {"writes", done_[writing]}, {"positions", pattern_.positions()}};
  }

  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return with_hints_of(*state_.context->backend, hints_granted_); }

 private:
  enum Kind : std::size_t { reading, writing, kinds };  // also the order of the parts
  [[nodiscard]] const MixedTransferParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool mixes() const { return parameters().reads() && parameters().writes(); }
  [[nodiscard]] bool verifies() const { return parameters().reads() && parameters().verify == Verify::kept; }

  /// Where a stonewall cut the writing short there may be room behind what was written: between the ranks of a shared
  /// file, or preallocated.
  [[nodiscard]] Status refuse_holes() const {
    if (!state_.dataset.per_process && !state_.context->world->root()) return {};
    const std::uint64_t all = pattern_.file_bytes();
    const bool whole = state_.written_operations == TransferPattern(state_.written, 0).operations();
    if (!whole && !state_.dataset.per_process) return {};
    if (whole) return check_written(*state_.context->backend, state_.file_name(), all);
    return check_written(*state_.context->backend, state_.file_name(), pattern_.transfers_end_bytes(), all);
  }

  [[nodiscard]] std::vector<Kind> kinds_moved() const {
    std::vector<Kind> moved;
    if (parameters().reads()) moved.push_back(reading);
    if (parameters().writes()) moved.push_back(writing);
    return moved;
  }

  [[nodiscard]] OpenRequest request_for(Kind kind) const {
    return {.name = state_.file_name(),
            .mode = kind == reading ? OpenMode::read : OpenMode::overwrite,
            .shared = !state_.dataset.per_process,
            .expected_bytes = pattern_.file_bytes()};
  }

  [[nodiscard]] Status move(Kind kind, std::span<const Extent> extents, Meter& meter) {
    const std::uint64_t before = meter.operations();
    const Status status =
        files_.at(kind)->transfer(kind == reading ? Direction::read : Direction::write, extents, meter);
    done_.at(kind) += meter.operations() - before;
    return status;
  }

  const MixedTransferState& state_;
  MixedTransferPattern pattern_;
  Payload payload_;
  BufferRing ring_;
  std::uint64_t prepared_ = 0;  // end of the furthest batch
  std::vector<Extent> extents_;
  std::vector<Kind> extent_kinds_;
  std::array<std::unique_ptr<File>, kinds> files_;  // each is open in one mode
  std::array<std::uint64_t, kinds> done_{};
  Map hints_granted_;
};

}  // namespace ullage
