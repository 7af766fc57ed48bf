// SPDX-License-Identifier: Apache-2.0
// One writing or reading phase of workload `transfer` on one rank: pattern, payload and buffers bound to an open file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "storage/backend.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/transfer/dataset.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/pattern.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

/// Says where this rank was put for a repetition, and the node from which its buffers were to come.
struct RankPlacement {
  int device_node = -1;  // -1: the kernel does not say
  bool is_bound = false;
  int buffer_node = -1;  // -1: that of the rank
};

/// Holds what every phase of a repetition shares on this rank; changed by the writing phases.
struct TransferState : TransferFiles {
  const TransferParameters* parameters = nullptr;
  std::uint64_t data_key = 0;              // of this dataset
  std::uint64_t generation = 0;            // of the data: +1 with each writing phase
  std::uint64_t written_bytes = 0;         // of the transfers that it was written in; 0: those of the case
  std::uint64_t readable_operations = 0;   // of every rank: the least any of them has written
  std::optional<RankPlacement> placement;  // where somebody asked
  [[nodiscard]] PayloadSpec payload_spec(std::uint64_t file_bytes) const;
};

class TransferPhase final : public PhaseWork {
 public:
  TransferPhase(TransferState& state, PhaseKind kind);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override;
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  [[nodiscard]] Map hints_given() const override;
  [[nodiscard]] Map hints_granted() const override { return state_.hints_granted(hints_granted_); }

 private:
  [[nodiscard]] OpenRequest open_request() const;
  [[nodiscard]] bool writes() const { return kind_ == PhaseKind::write || kind_ == PhaseKind::rewrite; }
  [[nodiscard]] const TransferParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool repeats() const { return parameters().order_of(kind_) == Order::repeat; }
  [[nodiscard]] TransferShape shape() const;
  [[nodiscard]] std::uint64_t writer() const;
  [[nodiscard]] bool in_step() const;
  [[nodiscard]] std::uint64_t prepare_writes(std::uint64_t first, std::uint64_t most);
  [[nodiscard]] std::uint64_t prepare_reads(std::uint64_t first, std::uint64_t most);
  void fill_slots();
  void poison_slots();
  [[nodiscard]] std::uint64_t wanted_ring() const;
  [[nodiscard]] std::uint64_t longest_reads() const;
  [[nodiscard]] Status refuse_holes() const;
  [[nodiscard]] Verification verify_last(std::uint64_t executed, Meter& progress);
  void read_again(std::uint64_t first, std::uint64_t end, Meter& progress, Verification& verification);
  void check_transfer_data(std::uint64_t operation, std::span<const std::byte> data, Verification& verification) const;
  [[nodiscard]] std::string file_name() const;

  TransferState& state_;
  PhaseKind kind_;
  TransferPattern pattern_;
  Payload payload_;
  BufferRing ring_;
  bool looks_at_each_ = false;  // of the transfers of a batch, before the next one
  std::vector<Extent> extents_;
  std::unique_ptr<File> file_;
  std::uint64_t since_sync_ = 0;
  Map hints_granted_;
};

}  // namespace ullage
