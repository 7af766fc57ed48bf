// SPDX-License-Identifier: Apache-2.0
// Workload `find`: its words, which are GNU find's where it has one, and its phases.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "base/clock.hpp"
#include "base/parameters.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "mpi/work_stealing.hpp"
#include "storage/backend.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/find/criteria.hpp"
#include "storage/workloads/find/walk.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class FindPhaseKind { timestamp, find };

struct FindParameters {
  std::vector<FindPhaseKind> phases{FindPhaseKind::find};
  std::string within;
  std::string name;
  bool newer = false;
  std::string size;

  [[nodiscard]] static Table<FindParameters> table();
  [[nodiscard]] bool makes_timestamp() const { return phases.front() == FindPhaseKind::timestamp; }
  [[nodiscard]] bool finds() const { return phases.back() == FindPhaseKind::find; }
};

/// Rules that span parameters, and the form of the words; the pointer is that of the parameters object.
[[nodiscard]] Status check_find(const FindParameters& parameters, const Capabilities& capabilities,
                                const std::string& pointer);

// The phases of workload `find` on one rank: the file whose time is compared with, and the walk.

/// Longer than the steps in which a file system's time goes on: some know seconds only, and a kernel's clock ticks.
inline std::chrono::milliseconds step_of(const struct statx& status) {
  return std::chrono::milliseconds(status.stx_mtime.tv_nsec == 0 ? 1000 : 20);
}

/// Makes the file, or makes it anew, on one rank of each file system. What is made after this phase is newer.
class TimestampPhase final : public PhaseWork {
 public:
  /// `file` is relative to the run folder.
  TimestampPhase(const StorageContext& context, std::string file) : context_(context), file_(std::move(file)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "timestamp", .access = Access::metadata}; }

  [[nodiscard]] std::uint64_t operations() const override { return context_.writes_manifest ? 1 : 0; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t most) override { return most; }

  [[nodiscard]] Status execute(Meter& meter) override {
    const auto file = context_.folder->open_file(file_, O_WRONLY | O_CREAT | O_TRUNC);
    if (!file) return fail(file.error());
    // A time of its own also where the file was there and empty.
    if (auto written = write_text(file->get(), "timestamp\n"); !written)
      return fail(errno_error(written.error(), "write", context_.folder->path() + "/" + file_));
    (void)meter.completed(0);
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    (void)progress;
    if (executed == 0) return {};
    struct statx status{};
    if (const auto file = context_.folder->open_file(file_, O_RDONLY))
      (void)statx(file->get(), "", AT_EMPTY_PATH, STATX_MTIME, &status);
    std::this_thread::sleep_for(step_of(status));
    return {};
  }

 private:
  const StorageContext& context_;
  std::string file_;
};

inline constexpr std::size_t names_between_looks = 1024;  // at the clock and at who asks for work

inline Result<struct statx> status_of(const Descriptor& file, unsigned mask, const std::string& path) {
  struct statx status{};
  if (statx(file.get(), "", AT_EMPTY_PATH, mask, &status) != 0) return fail(errno_error(errno, "stat", path));
  return status;
}

/// The ranks that share a file system walk it together. Operations are the entries met. An entry that could not be
/// looked at or a directory that could not be read fails the phase, once everything else has been walked.
class FindPhase final : public PhaseWork {
 public:
  /// `timestamp_file` is relative to the run folder; it is looked at when the parameters ask for what is newer.
  FindPhase(const StorageContext& context, const FindParameters& parameters, std::string timestamp_file)
      : context_(context), parameters_(parameters), timestamp_file_(std::move(timestamp_file)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "find", .access = Access::metadata}; }

  [[nodiscard]] Status allocate() override {
    auto wanted = criteria();
    if (!wanted) return fail(wanted.error());
    auto root = open_root();
    if (!root) return fail(root.error());
    const std::string path =
        context_.folder->path() + (parameters_.within.empty() ? "" : "/" + directory_of_dataset(parameters_.within));
    walk_ = std::make_unique<FindWalk>(std::move(*root), path, std::move(*wanted));
    return {};
  }

  [[nodiscard]] Status before() override {
    const mpi::Comm together = context_.world->all().split_by_text(context_.folder->nonce());
    begins_ = together.rank() == 0;
    stealing_ = std::make_unique<mpi::WorkStealing>(together, *walk_);
    return {};
  }

  /// How many entries a rank meets is known when all have been met: one operation is promised, and as many ticked.
  [[nodiscard]] std::uint64_t operations() const override { return 1; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t) override { return 1; }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (begins_) walk([this] { walk_->begin(); });
    do {
      meter.resume(now_ns());  // to wait for work is no part of an operation
      work(meter);
    } while (stealing_->more());
    if (walk_->first_error()) return fail(*walk_->first_error());
    return {};
  }

  [[nodiscard]] Counters counters() const override {
    const FindWalk::Counts counts = walk_ ? walk_->counts() : FindWalk::Counts{};
    return {{"scanned", counts.scanned}, {"found", counts.found}, {"errors", counts.errors}};
  }

 private:
  [[nodiscard]] Result<FindCriteria> criteria() const {
    FindCriteria criteria;
    if (!parameters_.name.empty()) criteria.name.emplace(parameters_.name);
    if (!parameters_.size.empty()) {
      const auto size = SizeTest::parse(parameters_.size, "size");
      if (!size) return fail(size.error());
      criteria.size = *size;
    }
    if (!parameters_.newer) return criteria;
    const auto time = timestamp();
    if (!time) return fail(time.error());
    criteria.newer_than = *time;
    return criteria;
  }

  [[nodiscard]] Result<FileTime> timestamp() const {
    const auto file = context_.folder->open_file(timestamp_file_, O_RDONLY);
    if (!file && file.error().errno_value == ENOENT) return fail(no_dataset(context_.dataset_name()));
    if (!file) return fail(file.error());
    const auto status = status_of(*file, STATX_MTIME, timestamp_file_);
    if (!status) return fail(status.error());
    return FileTime{status->stx_mtime.tv_sec, status->stx_mtime.tv_nsec};
  }

  [[nodiscard]] Result<Descriptor> open_root() const {
    if (parameters_.within.empty()) return open_run_folder();
    const DatasetFacts* book = context_.datasets;
    if (book == nullptr || book->find(parameters_.within) == nullptr) return fail(no_dataset(parameters_.within));
    return context_.folder->open_file(directory_of_dataset(parameters_.within), O_RDONLY | O_DIRECTORY);
  }

  /// Opens it by its path, which still has to be the folder that the run has opened.
  [[nodiscard]] Result<Descriptor> open_run_folder() const {
    const std::string& path = context_.folder->path();
    if (const auto in_place = context_.folder->check_place(); !in_place) return fail(in_place.error());
    Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) return fail(errno_error(errno, "open", path));
    return folder;
  }

  /// A rank that has no memory for its part ends it, and goes on to answer the others.
  template <class Part>
  void walk(const Part& part) {
    const Status walked = catch_resource_errors([&] -> Status {
      part();
      return {};
    });
    if (!walked) walk_->give_up(walked.error());
  }

  /// Looks at the clock and at who asks for work now and then, and in the end.
  void work(Meter& meter) {
    do {
      walk([this] {
        for (std::size_t done = 0; walk_->has_work() && done < names_between_looks;) done += walk_->step();
      });
      const std::uint64_t met = walk_->counts().scanned;
      if (!meter.completed_many(met - accounted_, 0)) walk_->abandon();
      accounted_ = met;
      stealing_->answer();
    } while (walk_->has_work());
  }

  const StorageContext& context_;
  const FindParameters& parameters_;
  std::string timestamp_file_;
  std::unique_ptr<FindWalk> walk_;
  std::unique_ptr<mpi::WorkStealing> stealing_;
  bool begins_ = false;          // at the root, on one of the ranks that walk together
  std::uint64_t accounted_ = 0;  // of the entries met, those the meter knows
};

}  // namespace ullage
