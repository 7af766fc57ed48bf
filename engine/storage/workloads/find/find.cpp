// SPDX-License-Identifier: Apache-2.0
// Workload `find`: a walk of all ranks through the run's folder, or one dataset of it, for the entries GNU find would
// find.
#include "storage/workloads/find/find.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/resources.hpp"
#include "storage/workloads/find/criteria.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t names_between_looks = 1024;  // at the clock and at who asks for work

Result<struct statx> status_of(const Descriptor& file, unsigned mask, const std::string& path) {
  struct statx status{};
  if (statx(file.get(), "", AT_EMPTY_PATH, mask, &status) != 0) return fail(errno_error(errno, "stat", path));
  return status;
}

/// Longer than the steps in which a file system's time goes on: some know seconds only, and a kernel's clock ticks.
std::chrono::milliseconds step_of(const struct statx& status) { return status.stx_mtime.tv_nsec == 0 ? 1000ms : 20ms; }

}  // namespace

PhaseInfo TimestampPhase::info() const {
  PhaseInfo info;
  info.name = "timestamp";
  info.access = Access::metadata;
  return info;
}

Status TimestampPhase::execute(Meter& meter) {
  const auto file = context_.folder->open_file(file_, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file) return fail(file.error());
  // A time of its own also where the file was there and empty.
  if (auto written = write_text(file->get(), "timestamp\n"); !written)
    return fail(errno_error(written.error(), "write", context_.folder->path() + "/" + file_));
  (void)meter.completed(0);
  return {};
}

Verification TimestampPhase::after(std::uint64_t executed, Meter& progress) {
  (void)progress;
  if (executed == 0) return {};
  struct statx status{};
  if (const auto file = context_.folder->open_file(file_, O_RDONLY))
    (void)statx(file->get(), "", AT_EMPTY_PATH, STATX_MTIME, &status);
  std::this_thread::sleep_for(step_of(status));
  return {};
}

PhaseInfo FindPhase::info() const {
  PhaseInfo info;
  info.name = "find";
  info.access = Access::metadata;
  return info;
}

Status FindPhase::allocate() {
  auto wanted = criteria();
  if (!wanted) return fail(wanted.error());
  auto root = open_root();
  if (!root) return fail(root.error());
  const std::string path =
      context_.folder->path() + (parameters_.within.empty() ? "" : "/" + directory_of_dataset(parameters_.within));
  walk_ = std::make_unique<FindWalk>(std::move(*root), path, std::move(*wanted));
  return {};
}

Status FindPhase::before() {
  const mpi::Comm together = context_.world->all().split_by_text(context_.folder->nonce());
  begins_ = together.rank() == 0;
  stealing_ = std::make_unique<mpi::WorkStealing>(together, *walk_);
  return {};
}

Result<FindCriteria> FindPhase::criteria() const {
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

Result<FileTime> FindPhase::timestamp() const {
  const auto file = context_.folder->open_file(timestamp_file_, O_RDONLY);
  if (!file && file.error().errno_value == ENOENT) return fail(no_dataset(context_.dataset_name()));
  if (!file) return fail(file.error());
  const auto status = status_of(*file, STATX_MTIME, timestamp_file_);
  if (!status) return fail(status.error());
  return FileTime{status->stx_mtime.tv_sec, status->stx_mtime.tv_nsec};
}

Result<Descriptor> FindPhase::open_root() const {
  if (parameters_.within.empty()) return open_run_folder();
  const DatasetFacts* book = context_.datasets;
  if (book == nullptr || book->find(parameters_.within) == nullptr) return fail(no_dataset(parameters_.within));
  return context_.folder->open_file(directory_of_dataset(parameters_.within), O_RDONLY | O_DIRECTORY);
}

/// Opens it by its path, which still has to be the folder that the run has opened.
Result<Descriptor> FindPhase::open_run_folder() const {
  const std::string& path = context_.folder->path();
  if (const auto in_place = context_.folder->check_place(); !in_place) return fail(in_place.error());
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder) return fail(errno_error(errno, "open", path));
  return folder;
}

/// A rank that has no memory for its part ends it, and goes on to answer the others.
template <class Part>
void FindPhase::walk(const Part& part) {
  const Status walked = catch_resource_errors([&] -> Status {
    part();
    return {};
  });
  if (!walked) walk_->give_up(walked.error());
}

/// Looks at the clock and at who asks for work now and then, and in the end.
void FindPhase::work(Meter& meter) {
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

Status FindPhase::execute(Meter& meter) {
  if (begins_) walk([this] { walk_->begin(); });
  do {
    meter.resume(now_ns());  // to wait for work is no part of an operation
    work(meter);
  } while (stealing_->more());
  if (walk_->first_error()) return fail(*walk_->first_error());
  return {};
}

Counters FindPhase::counters() const {
  const FindWalk::Counts counts = walk_ ? walk_->counts() : FindWalk::Counts{};
  return {{"scanned", counts.scanned}, {"found", counts.found}, {"errors", counts.errors}};
}

namespace {

constexpr std::size_t longest_dataset_name = 64;

// A function, since the table is asked for while other files' statics are still being made.
Words<FindPhaseKind> phase_words() { return {{FindPhaseKind::timestamp, "timestamp"}, {FindPhaseKind::find, "find"}}; }

bool is_dataset_name(std::string_view name) {
  return !name.empty() && name.size() <= longest_dataset_name && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

Status check_phases(const FindParameters& p, const std::string& pointer) {
  const bool once = p.phases.size() == 1 || (p.phases.size() == 2 && p.makes_timestamp() && p.finds());
  if (!once) return fail(bad_plan(pointer + "/phases", "must be timestamp, find, or both in this order"));
  if (p.finds()) return {};
  const FindParameters initial;
  for (const auto& [parameter, given] :
       {std::pair("/within", p.within != initial.within), std::pair("/name", p.name != initial.name),
        std::pair("/newer", p.newer != initial.newer), std::pair("/size", p.size != initial.size)})
    if (given) return fail(bad_plan(pointer + parameter, "needs phase find"));
  return {};
}

}  // namespace

const Table<FindParameters>& FindParameters::table() {
  using P = FindParameters;
  static const Table<FindParameters> fields{
      choices("phases", &P::phases, phase_words(),
              "Choose the phases: timestamp makes the file that newer compares with; find walks the folder, all ranks "
              "together."),
      text("within", &P::within, "Search this dataset of the target; empty means everything in the run's folder."),
      text("name", &P::name,
           "Find the entries whose whole base name matches this shell pattern, as find's -name does; empty means any "
           "name."),
      flag("newer", &P::newer,
           "Find only entries modified later, to the nanosecond, than the file that phase timestamp of the case made."),
      text("size", &P::size,
           "Find only entries of this size: [+-]N[cwbkMG] as find's -size, in units rounded up; empty means any size."),
  };
  return fields;
}

Status check_find(const FindParameters& p, const Capabilities& capabilities, const std::string& pointer) {
  if (!capabilities.path || !capabilities.data)
    return fail(bad_plan(pointer + "/phases", "need a backend that holds files in directories, such as posix"));
  if (auto status = check_phases(p, pointer); !status) return status;
  if (!p.within.empty() && !is_dataset_name(p.within))
    return fail(bad_plan(pointer + "/within", "is '" + p.within + "', must be the name of a dataset"));
  if (p.name.find('\0') != std::string::npos) return fail(bad_plan(pointer + "/name", "must not hold a NUL byte"));
  if (p.size.empty()) return {};
  const auto size = SizeTest::parse(p.size, pointer + "/size");
  return size ? Status{} : fail(size.error());
}

namespace {

class Find final : public Workload {
 public:
  Find(const FindParameters& parameters, const StorageContext& context)
      : parameters_(parameters),
        context_(context),
        timestamp_{
            context.dataset_name(), directory_of_dataset(context.dataset_name()), 1, false, false, std::nullopt} {}

  [[nodiscard]] LocalSteps begin() override {
    if (!parameters_.makes_timestamp()) return {};
    return {{"make directory", [this] { return make_directory(); }}};
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    if (parameters_.phases[index] == FindPhaseKind::timestamp)
      return std::make_unique<TimestampPhase>(context_, timestamp_.file_name(0));
    return std::make_unique<FindPhase>(context_, parameters_, timestamp_.file_name(0));
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!parameters_.makes_timestamp()) return {};
    LocalSteps steps;
    if (!context_.dataset.empty()) {
      if (whole) return {{"enter facts", [this] { return enter_dataset(); }}};
      steps.push_back(step_to_remove_facts(context_));
    }
    if (!context_.keep) steps.push_back({"remove", [this] { return remove(); }});
    return steps;
  }

 private:
  [[nodiscard]] Status make_directory() const {
    if (!context_.writes_manifest) return {};
    if (auto status = context_.folder->list_dataset(timestamp_); !status) return status;
    return context_.folder->make_directory(timestamp_.directory);
  }

  [[nodiscard]] Status enter_dataset() const {
    return context_.datasets->enter(context_.dataset, {{"workload", "find"}});
  }

  [[nodiscard]] Status remove() const {
    if (!context_.writes_manifest) return {};
    if (auto status = context_.folder->remove_file(timestamp_.file_name(0)); !status) return status;
    return context_.folder->remove_directory(timestamp_.directory);
  }

  FindParameters parameters_;
  StorageContext context_;
  DatasetEntry timestamp_;
};

const Registered<WorkloadEntry> registered_find{on_storage<FindParameters>({
    .name = "find",
    .doc = "All ranks walk the run's folder together and count what GNU find would find there.",
    .check = on_any_layout(check_find),
    // A timestamp is a file in a directory.
    .needs = [](const FindParameters& p,
                const PlannedLayout&) { return p.makes_timestamp() ? file_needs(1, 1) : Needs{}; },
    .make = workload_of<Find>,
    .uses_dataset = [](const FindParameters& p) { return p.newer && !p.makes_timestamp(); },
    .needs_one_folder = always,
})};

}  // namespace

}  // namespace ullage
