// SPDX-License-Identifier: Apache-2.0
// MPI_File_sync and MPI_File_close are collective, and a rank whose transfer failed goes straight to close: the ranks
// of a shared file meet before each, so that none waits for ever. After a failure none syncs: OMPIO would hang in it.
#pragma once

#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "mpi/comm.hpp"

namespace ullage {

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
