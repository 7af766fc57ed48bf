// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/find/phase.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_facts.hpp"

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

}  // namespace ullage
