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

/// Collective.
[[nodiscard]] Agreement agree(const Comm& everyone, Status own, CallSite site = CallSite::current());

/// Collective: success when every rank had it. Else each rank that failed keeps its own error, and the others get that
/// of the lowest rank that failed, which its text names.
[[nodiscard]] Status share_status(const Comm& everyone, Status own, CallSite site = CallSite::current());

}  // namespace ullage::mpi
