// SPDX-License-Identifier: Apache-2.0
// Workload `find`: its words, which are GNU find's where it has one, and its phases.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "mpi/work_stealing.hpp"
#include "storage/backend.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/find/walk.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class FindPhaseKind { timestamp, find };

struct FindParameters {
  std::vector<FindPhaseKind> phases{FindPhaseKind::find};
  std::string within;
  std::string name;
  bool newer = false;
  std::string size;

  [[nodiscard]] static const Table<FindParameters>& table();
  [[nodiscard]] bool makes_timestamp() const { return phases.front() == FindPhaseKind::timestamp; }
  [[nodiscard]] bool finds() const { return phases.back() == FindPhaseKind::find; }
};

/// Rules that span parameters, and the form of the words; the pointer is that of the parameters object.
[[nodiscard]] Status check_find(const FindParameters& parameters, const Capabilities& capabilities,
                                const std::string& pointer);

// The phases of workload `find` on one rank: the file whose time is compared with, and the walk.

/// Makes the file, or makes it anew, on one rank of each file system. What is made after this phase is newer.
class TimestampPhase final : public PhaseWork {
 public:
  /// `file` is relative to the run folder.
  TimestampPhase(const StorageContext& context, std::string file) : context_(context), file_(std::move(file)) {}

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] std::uint64_t operations() const override { return context_.writes_manifest ? 1 : 0; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t most) override { return most; }
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;

 private:
  const StorageContext& context_;
  std::string file_;
};

/// The ranks that share a file system walk it together. Operations are the entries met. An entry that could not be
/// looked at or a directory that could not be read fails the phase, once everything else has been walked.
class FindPhase final : public PhaseWork {
 public:
  /// `timestamp_file` is relative to the run folder; it is looked at when the parameters ask for what is newer.
  FindPhase(const StorageContext& context, const FindParameters& parameters, std::string timestamp_file)
      : context_(context), parameters_(parameters), timestamp_file_(std::move(timestamp_file)) {}

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  /// How many entries a rank meets is known when all have been met: one operation is promised, and as many ticked.
  [[nodiscard]] std::uint64_t operations() const override { return 1; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t) override { return 1; }
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Counters counters() const override;

 private:
  [[nodiscard]] Result<FindCriteria> criteria() const;
  [[nodiscard]] Result<FileTime> timestamp() const;
  [[nodiscard]] Result<Descriptor> open_root() const;
  [[nodiscard]] Result<Descriptor> open_run_folder() const;
  template <class Part>
  void walk(const Part& part);
  void work(Meter& meter);

  const StorageContext& context_;
  const FindParameters& parameters_;
  std::string timestamp_file_;
  std::unique_ptr<FindWalk> walk_;
  std::unique_ptr<mpi::WorkStealing> stealing_;
  bool begins_ = false;          // at the root, on one of the ranks that walk together
  std::uint64_t accounted_ = 0;  // of the entries met, those the meter knows
};

}  // namespace ullage
