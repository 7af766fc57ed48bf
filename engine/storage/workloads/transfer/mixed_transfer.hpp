// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-transfer`: its words, and its phase on one rank.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/payload.hpp"
#include "storage/backend.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/transfer/dataset.hpp"
#include "storage/workloads/transfer/mixed_pattern.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class MixedVerify { none, kept };

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
  MixedVerify verify = MixedVerify::kept;

  [[nodiscard]] static const Table<MixedTransferParameters>& table();
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
  [[nodiscard]] MixedTransferShape shape() const;
};

class MixedTransferPhase final : public PhaseWork {
 public:
  explicit MixedTransferPhase(const MixedTransferState& state);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return parameters().operations; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return parameters().writes() && parameters().sync; }
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return state_.hints_granted(hints_granted_); }

 private:
  enum Kind : std::size_t { reading, writing, kinds };  // also the order of the parts
  [[nodiscard]] const MixedTransferParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool mixes() const { return parameters().reads() && parameters().writes(); }
  [[nodiscard]] bool verifies() const { return parameters().reads() && parameters().verify == MixedVerify::kept; }
  [[nodiscard]] Status refuse_holes() const;
  [[nodiscard]] std::vector<Kind> kinds_moved() const;
  [[nodiscard]] OpenRequest request_for(Kind kind) const;
  [[nodiscard]] Status move(Kind kind, std::span<const Extent> extents, Meter& meter);

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
