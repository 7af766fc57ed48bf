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

/// An operation is a stretch. All ranks begin each together, behind a barrier that is in no stretch's time; data is
/// made and checked between them. Gauges, over all rounds: io_s, compute_s, both_s, blocking_s (each of all batches),
/// and of `both` start_s (calls that begin transfers), beside_s (the computation), wait_s (until all have ended); bytes
/// (of one kind of stretch), batches (of one kind), blocks (of the computation of a batch).
class OverlapPhase final : public PhaseWork {
 public:
  OverlapPhase(const OverlapState& state, Direction direction);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return shape_.stretches(); }
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return writes() && parameters().sync; }
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override;
  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override;

 private:
  /// Adds up all rounds so far.
  struct Times {
    std::int64_t io_ns = 0;
    std::int64_t compute_ns = 0;
    std::int64_t both_ns = 0;
    std::int64_t blocking_ns = 0;
    std::int64_t start_ns = 0;
    std::int64_t beside_ns = 0;
    std::int64_t wait_ns = 0;
  };

  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }
  [[nodiscard]] const OverlapParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] OpenRequest request_for(OpenMode mode) const;
  [[nodiscard]] Status open_for_overlap();
  void do_stretch(std::uint64_t index, Meter& meter);
  [[nodiscard]] std::int64_t take_time(Stretch stretch);
  void make_ready(std::uint64_t index);
  void check_area();
  void size_computation(std::int64_t batch_ns);
  [[nodiscard]] std::span<const Extent> batch(std::uint64_t index) const;
  /// Of the errors the first counts.
  [[nodiscard]] bool keep(const Status& status) {
    keep_first(status_, status);
    return status.has_value();
  }
  [[nodiscard]] std::int64_t warm_up();
  [[nodiscard]] std::int64_t io_alone();
  [[nodiscard]] std::int64_t computation_alone() const;
  [[nodiscard]] std::int64_t both_at_once();
  [[nodiscard]] std::int64_t one_after_the_other();

  const OverlapState& state_;
  Direction direction_;
  OverlapShape shape_;
  Payload payload_;
  std::size_t slot_bytes_;
  std::vector<Extent> extents_;  // of the stretch
  std::vector<std::int64_t> warm_up_ns_;
  ChainPieces chain_;
  HelperClock blocking_;
  Times times_;
  Verification verification_;
  Status status_;  // of this rank
  std::unique_ptr<File> file_;
  std::vector<std::unique_ptr<File>> helper_files_;
  std::unique_ptr<HelperTransfers> helpers_;  // behind the files, which they use
  NonblockingTransfers* beside_ = nullptr;    // the helpers, or what the file has
  Map granted_;
};

}  // namespace ullage
