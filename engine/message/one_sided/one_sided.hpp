// SPDX-License-Identifier: Apache-2.0
// Ranks that write, read or add to the memory of others through MPI, without the others' help.
#pragma once

#include <cstdint>

#include "message/call_windows.hpp"
#include "mpi/windows.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class OneSidedOperation { put, get, accumulate };
enum class OneSidedSync { lock, flush, fence };
enum class OneSidedPairs { one, all };

struct OneSidedParameters : CallWindowParameters {
  OneSidedOperation operation = OneSidedOperation::put;
  OneSidedSync sync = OneSidedSync::flush;
  OneSidedPairs pairs = OneSidedPairs::one;
  std::uint64_t message_bytes = 8;
  std::uint64_t outstanding = 1;

  [[nodiscard]] static Table<OneSidedParameters> table();
};

/// Whom a rank works on. One pair: rank 0 and the last one; all: rank i of the first half and rank i + half.
struct OneSidedRole {
  static constexpr int nobody = -1;
  int target = nobody;  // of an origin
  int origin = nobody;  // of a target
};
[[nodiscard]] OneSidedRole one_sided_role(OneSidedPairs pairs, int rank, int ranks);

}  // namespace ullage
