// SPDX-License-Identifier: Apache-2.0
// Writing or reading of workload `overlap` on one rank: I/O alone, computation alone, both at once, one after the
// other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/helper_threads.hpp"
#include "base/payload.hpp"
#include "noise/fixed_chain.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/overlap/overlap.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// Transfers that helper threads make by blocking calls while their rank computes.

/// One helper for each file, which is open once for each of them: transfer i of a batch goes through file i.
class HelperTransfers final : public NonblockingTransfers {
 public:
  /// The files outlive it, are open when a batch is started, and are the helpers' until wait() has returned.
  explicit HelperTransfers(std::span<const std::unique_ptr<File>> files);
  /// Once, before the first batch. All helpers, or none and the error.
  [[nodiscard]] Status start_threads() { return helpers_.start(files_.size()); }

  /// At most as many as there are files.
  void start(Direction direction, std::span<const Extent> extents) override;
  void test() override {}
  [[nodiscard]] Status wait() override;

 private:
  std::span<const std::unique_ptr<File>> files_;
  // Written before the helpers are told of a batch, and read by them until its end.
  Direction direction_ = Direction::write;
  std::span<const Extent> extents_;
  HelperThreads<Status, HelperClock> helpers_;  // last: they use the others
};

/// Holds what both phases of a repetition share on this rank.
struct OverlapState {
  const OverlapParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context->world->rank()); }
  [[nodiscard]] std::string file_name() const { return dataset.file_name(rank()); }
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_overlap_phase(const OverlapState& state, Direction direction);

}  // namespace ullage
