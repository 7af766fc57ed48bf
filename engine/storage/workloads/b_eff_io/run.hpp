// SPDX-License-Identifier: Apache-2.0
// One rank's part in a case of workload `b-eff-io`, as its phases share it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/backend.hpp"
#include "storage/storage_context.hpp"
#include "storage/viewed_file.hpp"
#include "storage/workloads/b_eff_io/b_eff_io.hpp"
#include "storage/workloads/b_eff_io/dataset.hpp"
#include "storage/workloads/b_eff_io/loop.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"
#include "work/workload.hpp"

namespace ullage {

// Where the calls of a pattern lie in a file, and the view through which a rank makes them. Pure.

/// Holds what all calls of a type have in common on one rank.
struct BEffIoFileShape {
  BEffIoType type = BEffIoType::scatter;
  bool shared_pointer = true;  // of type shared; false: it is done as scatter is
  std::uint64_t ranks = 1;
  std::uint64_t rank = 0;
  std::uint64_t segment_bytes = 0;  // of the segmented types

  /// The ranks' chunks alternate; else a rank's calls follow each other, in its own file or segment.
  [[nodiscard]] bool alternates() const { return type == BEffIoType::scatter || type == BEffIoType::shared; }
  [[nodiscard]] bool has_strided_view() const {
    return type == BEffIoType::scatter || (type == BEffIoType::shared && !shared_pointer);
  }
  [[nodiscard]] Pointer pointer() const;
};

/// The calls of one pattern, all of the same length.
struct BEffIoPlace {
  BEffIoFileShape shape;
  std::uint64_t displacement_bytes = 0;  // where the pattern begins: in the file, or in the segment
  std::uint64_t chunk_bytes = 0;
  std::uint64_t call_bytes = 0;  // a multiple of the chunk; of types but scatter the chunk itself

  /// Returns where byte `byte` of this rank's call number `call` lies in the file.
  [[nodiscard]] std::uint64_t offset_bytes(std::uint64_t call, std::uint64_t byte = 0) const;
  /// So many calls of every rank take this much of the file, or of the segment: the next pattern begins after it.
  [[nodiscard]] std::uint64_t extent_bytes(std::uint64_t calls) const;
  [[nodiscard]] FileView view() const;
};

/// One pattern of the case: what is known of it before it begins.
struct BEffIoTask {
  BEffIoPattern pattern;
  std::optional<std::uint64_t> wanted;  // repetitions; none: time decides
  BEffIoMade made;                      // by the accesses before this one; of a first write its displacement, if fixed
  double scheduled_until_s = 0;         // of the case's patterns up to and with this one
};

/// Says what all ranks did of a pattern: the same on each of them.
struct BEffIoDone {
  std::uint64_t least = 0;  // repetitions of the rank that did fewest
  std::uint64_t most = 0;
  double took_s = 0;  // accounted, of the rank that took longest
};

/// Its file is open from the first pattern to the last. What is collective has to be called by every rank.
class BEffIoRun final {
 public:
  BEffIoRun(BEffIoParameters parameters, const StorageContext& context);

  /// Finds the dataset, or makes an empty one.
  [[nodiscard]] LocalSteps begin();
  /// Enters what was made, or removes it.
  [[nodiscard]] LocalSteps end(bool whole);

  /// Before the first pattern's timer.
  [[nodiscard]] Status ready_open() const;
  /// Collective, within the timer of the first pattern.
  [[nodiscard]] Status open(BEffIoTimes& times);
  /// Collective: the pointers of all ranks go to where the pattern begins, and its hints are given.
  [[nodiscard]] Status set_out(const BEffIoTask& task, BEffIoTimes& times);
  [[nodiscard]] Status close(BEffIoTimes& times);
  /// After a pattern, before the next one's set_out().
  void finished(const BEffIoTask& task, const BEffIoDone& done);
  /// Collective: what is cached of the dataset is dropped, where parameters want it.
  [[nodiscard]] Status control_cache() const;

  [[nodiscard]] const std::vector<BEffIoTask>& tasks() const { return tasks_; }
  [[nodiscard]] const BEffIoParameters& parameters() const { return parameters_; }
  [[nodiscard]] const StorageContext& context() const { return context_; }
  [[nodiscard]] const mpi::Comm& everyone() const { return context_.world->all(); }
  [[nodiscard]] ViewedFile* file() const { return file_.get(); }
  [[nodiscard]] std::string file_name() const;
  [[nodiscard]] bool holds_data() const { return context_.backend->capabilities().data; }
  [[nodiscard]] BEffIoPlace place_of(const BEffIoTask& task) const;
  [[nodiscard]] BEffIoContents contents_of(const BEffIoTask& task) const;
  /// Returns what a pattern of fixed repetitions may take; infinite: any time.
  [[nodiscard]] double allowance_s(const BEffIoTask& task) const;
  [[nodiscard]] Map hints_given(const BEffIoTask& task) const;

 private:
  [[nodiscard]] OpenRequest open_request() const;
  [[nodiscard]] bool makes_files() const {
    return parameters_.access == BEffIoAccess::write && holds_data() && context_.folder != nullptr;
  }
  [[nodiscard]] bool has_fixed_places() const { return !parameters_.is_time_driven(); }
  [[nodiscard]] Status find_tasks();
  [[nodiscard]] Status find_made();
  [[nodiscard]] Status find_segment();
  void add_task(const BEffIoPattern& pattern, std::optional<std::uint64_t> wanted, const BEffIoMade& made);
  [[nodiscard]] Status enter() const;

  BEffIoParameters parameters_;
  StorageContext context_;
  DatasetEntry entry_;
  BEffIoFileShape shape_;
  BEffIoDataset dataset_;
  std::vector<BEffIoTask> tasks_;
  std::unique_ptr<ViewedFile> file_;
  std::optional<std::uint64_t> stands_at_;  // where every rank's pointer is, as BEffIoPlace counts
  std::uint64_t ends_at_ = 0;               // of what was written so far
  double took_s_ = 0;                       // accounted, of the patterns so far
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_b_eff_io_phase(BEffIoRun& run, std::size_t index);

}  // namespace ullage
