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

[[nodiscard]] std::unique_ptr<PhaseWork> make_transfer_phase(TransferState& state, PhaseKind kind);

}  // namespace ullage
