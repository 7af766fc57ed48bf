// SPDX-License-Identifier: Apache-2.0
// The words of workload `transfer`, which are IOR's where IOR has one.
#pragma once

#include "storage/workloads/numa_path.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/pattern.hpp"

namespace ullage {

enum class PhaseKind { write, rewrite, read, reread, mixed };
[[nodiscard]] inline Words<PhaseKind> words_of(PhaseKind) {
  return {{PhaseKind::write, "write"},
          {PhaseKind::rewrite, "rewrite"},
          {PhaseKind::read, "read"},
          {PhaseKind::reread, "reread"},
          {PhaseKind::mixed, "mixed"}};
}
enum class WriteOrder { same, sequential };
enum class SyncWhen { none, close, every };
enum class CacheControl { none, advise, drop };
[[nodiscard]] inline Words<CacheControl> words_of(CacheControl) {
  return {{CacheControl::none, "none"}, {CacheControl::advise, "advise"}, {CacheControl::drop, "drop"}};
}

struct TransferParameters {
  std::vector<PhaseKind> phases{PhaseKind::write, PhaseKind::read};
  std::uint64_t transfer_bytes = 256 << 10;
  std::uint64_t block_bytes = 1 << 20;
  std::uint64_t segments = 1;
  FileMode file_mode = FileMode::shared;
  bool directory_per_process = false;
  Order order = Order::sequential;
  std::uint64_t stride = 2;
  std::uint64_t order_seed = 1;
  WriteOrder write_order = WriteOrder::same;
  double read_share = 0.5;
  ReadBack read_back = ReadBack::own;
  int read_shift = 1;
  SyncWhen sync = SyncWhen::close;
  std::uint64_t sync_every = 1;
  double stonewall_s = 0;
  bool wear_out = false;
  double wear_out_limit_s = 0;
  CacheControl cache = CacheControl::advise;
  Verify verify = Verify::kept;
  double compress_ratio = 1;
  double dedup_ratio = 1;
  int queue_depth = 1;
  int threads = 1;
  std::uint64_t buffers = 0;
  NumaPath numa_path = NumaPath::unsaid;
  int buffer_node = -1;

  [[nodiscard]] static Table<TransferParameters> table();
  [[nodiscard]] TransferShape shape(std::uint64_t ranks) const;
  /// Order in which a phase of that kind visits.
  [[nodiscard]] Order order_of(PhaseKind kind) const;
  [[nodiscard]] std::uint64_t bytes_a_rank() const { return block_bytes * segments; }
  [[nodiscard]] bool reads() const;
  /// One operation of a rank after the other: a single buffer is enough.
  [[nodiscard]] bool one_at_a_time() const { return queue_depth == 1 && threads == 1; }
  /// Returns whether the place of ranks and their buffers is chosen, or recorded.
  [[nodiscard]] bool places_ranks() const { return numa_path != NumaPath::unsaid || buffer_node >= 0; }
  [[nodiscard]] bool makes_dataset() const { return phases.front() == PhaseKind::write; }
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_transfer(const TransferParameters& parameters, const Capabilities& capabilities,
                                    const PlannedLayout& layout, const std::string& pointer);

}  // namespace ullage
