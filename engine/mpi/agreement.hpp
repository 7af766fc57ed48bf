// SPDX-License-Identifier: Apache-2.0
// How the ranks of a communicator learn what became of a step that each of them has done alone. All agreement of ranks
// on success is here: a rank whose step failed stays until the others know it, and none goes on without the rest.
#pragma once

#include "base/result.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

/// Says what became of a step that every rank has done.
struct Agreement {
  bool everywhere = true;  // it went well on all ranks; the same on each of them
  Status own;              // of this rank alone
};

/// Collective: whether the step went well on all ranks.
[[nodiscard]] bool all_succeeded(const Comm& everyone, const Status& own, CallSite site = CallSite::current());

/// Collective: the same, with what became of the step here.
[[nodiscard]] Agreement agree(const Comm& everyone, Status own, CallSite site = CallSite::current());

/// Collective: success when every rank had it. Else each rank that failed keeps its own error, and the others get that
/// of the lowest rank that failed, which its text names.
[[nodiscard]] Status share_status(const Comm& everyone, Status own, CallSite site = CallSite::current());

}  // namespace ullage::mpi
