// SPDX-License-Identifier: Apache-2.0
// Paths that are handed to an MPI library, which opens them by itself, and what ranks look at together before it does.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "base/descriptor.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "storage/backend.hpp"

namespace ullage {

/// ROMIO takes what stands before a colon for the name of a file system, also in the middle of a path, unless one
/// stands in front.
[[nodiscard]] inline std::string romio_prefix(const RunFolder& folder) {
  if (folder.path().find(':') == std::string::npos || !mpi::mpi_io_component().starts_with("romio")) return {};
  const auto space = RunFolder::space(folder.path());
  if (space && space->file_system.starts_with("nfs")) return "nfs:";
  if (space && space->file_system == "lustre") return "lustre:";
  return "ufs:";
}

/// Returns whether this process may make files of a certain length only (ulimit -f).
[[nodiscard]] inline bool is_file_size_limited() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

/// MPI has no word for a file that would be longer than this process may make it (ulimit -f), and OMPIO says nothing.
/// `end_bytes`: where a write of `path` was to end, 0 where that is not known.
[[nodiscard]] inline Error with_size_limit(Error error, Direction direction, const std::string& path,
                                           std::uint64_t end_bytes) {
  rlimit limit{};
  struct stat file{};
  if (direction == Direction::read || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return error;
  const bool is_as_long = stat(path.c_str(), &file) == 0 && static_cast<std::uint64_t>(file.st_size) >= limit.rlim_cur;
  if (end_bytes <= limit.rlim_cur && !is_as_long) return error;
  error.errno_value = EFBIG;
  error.text += "; a file may have " + std::to_string(limit.rlim_cur) + " bytes here (ulimit -f)";
  return error;
}

/// A library that gets no descriptor in a collective call leaves the other ranks waiting in it, or ends the process.
[[nodiscard]] inline Status check_free_descriptors() {
  std::array<Descriptor, 8> enough_for_a_file;
  for (Descriptor& one : enough_for_a_file) {
    one = Descriptor(::open("/", O_PATH | O_CLOEXEC));
    if (!one) return fail(errno_error(errno, "open", "files of the MPI library"));
  }
  return {};
}

/// Lets the MPI library load what it has for files, which it does at the first opening in a process: that of a file of
/// ours which is always there. Whatever comes of it, the files of the phases say. Local.
[[nodiscard]] inline Status load_mpi_io(const mpi::World& world, const RunFolder& folder) {
  if (Status room = check_free_descriptors(); !room) return room;
  if (Status in_place = folder.check_place(); !in_place) return in_place;
  static const bool loaded = [&] {
    auto file = mpi::File::open(world.self(), romio_prefix(folder) + folder.marker_path(), mpi::FileAccess::read,
                                mpi::Info(), false);
    return file && file->close().has_value();
  }();
  (void)loaded;
  return {};
}

/// What is looked at before a library opens a file by its path: no symbolic link on the way, and the file there or not
/// there as it has to be. ROMIO passes the error of the first rank on as a number that means nothing on the others.
class PathChecks final {
 public:
  PathChecks(const mpi::World& world, const RunFolder& folder) : world_(world), folder_(folder) {}

  /// Of a shared file by one rank of each node.
  [[nodiscard]] Status look(const OpenRequest& request) const {
    if (request.shared && !world_.topology().leader()) return {};
    if (auto in_place = folder_.check_place(); !in_place) return in_place;
    const auto there = folder_.open_file(request.name, O_PATH);
    const bool creates = request.mode == OpenMode::create;
    if (!there && (!creates || there.error().errno_value != ENOENT)) return fail(there.error());
    if (there && creates) return fail(errno_error(EEXIST, "open", folder_.path() + "/" + request.name));
    return {};
  }

  /// The same before a timer; the opening that follows need not look again.
  [[nodiscard]] Status look_ahead(const OpenRequest& request) {
    Status status = check_free_descriptors();
    if (status) status = look(request);
    if (status) ahead_.emplace(request.name, request.mode);
    return status;
  }
  [[nodiscard]] bool was_looked_at(const OpenRequest& request) {
    return ahead_.erase({request.name, request.mode}) > 0;
  }

 private:
  const mpi::World& world_;
  const RunFolder& folder_;
  std::set<std::pair<std::string, OpenMode>> ahead_;
};

// MPI_File_sync and MPI_File_close are collective, and a rank whose transfer failed goes straight to close: the ranks
// of a shared file meet before each, so that none waits for ever. After a failure none syncs: OMPIO would hang in it.

class MpiioMeeting final {
 public:
  /// `everyone`: the ranks that opened the file together; null when it is this rank's own.
  explicit MpiioMeeting(const mpi::Comm* everyone) : everyone_(everyone) {}

  struct Outcome {
    bool anyone_syncs = false;
    bool anyone_failed = false;
    std::uint64_t sum = 0;  // of what each of them brought
  };

  [[nodiscard]] Outcome meet(bool syncs, bool failed, std::uint64_t brings = 0) const {
    if (everyone_ == nullptr) return {syncs, failed, brings};
    std::array<std::uint64_t, 3> counts{syncs ? 1U : 0U, failed ? 1U : 0U, brings};
    everyone_->sum_all(counts);
    return {counts[0] > 0, counts[1] > 0, counts[2]};
  }

  /// Before closing: goes along with the syncs of those that are not there yet. `failed` is asked each time. Returns
  /// whether any rank has failed.
  template <class Failed, class Sync>
  bool wait_for_syncs(const Failed& failed, const Sync& sync) const {
    if (everyone_ == nullptr) return failed();
    Outcome outcome = meet(false, failed());
    for (; outcome.anyone_syncs; outcome = meet(false, failed()))
      if (!outcome.anyone_failed) sync();
    return outcome.anyone_failed;
  }

  [[nodiscard]] bool first() const { return everyone_ == nullptr || everyone_->rank() == 0; }

 private:
  const mpi::Comm* everyone_;
};

/// Returns what a rank says that did not fail itself.
[[nodiscard]] inline Error not_synced(const std::string& path) {
  Error error = errno_error(EIO, "sync", path);
  error.kind = ErrorKind::mpi;
  error.text = "not synced, since another rank's operation on the file failed";
  return error;
}

}  // namespace ullage
