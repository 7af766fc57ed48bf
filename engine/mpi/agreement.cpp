// SPDX-License-Identifier: Apache-2.0
#include "mpi/agreement.hpp"

#include <chrono>
#include <thread>

#include "base/std.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {
namespace {

/// Collective: the error of rank `root`, on all ranks.
Error shared_error(const Comm& everyone, const Error& own, int root) {
  Error error;
  error.kind = static_cast<ErrorKind>(everyone.broadcast(static_cast<std::int64_t>(own.kind), root));
  error.errno_value = static_cast<int>(everyone.broadcast(std::int64_t{own.errno_value}, root));
  error.operation = everyone.broadcast(own.operation, root);
  error.where = everyone.broadcast(own.where, root);
  error.text = "rank " + std::to_string(root) + " failed: " + everyone.broadcast(own.text, root);
  error.is_of_another_rank = true;
  return error;
}

}  // namespace

bool all_succeeded(const Comm& everyone, const Status& own, CallSite site) { return !everyone.any(!own, site); }

Agreement agree(const Comm& everyone, Status own, CallSite site) {
  const bool everywhere = all_succeeded(everyone, own, site);
  return {everywhere, std::move(own)};
}

Status share_status(const Comm& everyone, Status own, CallSite site) {
  constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
  const std::int64_t failing = everyone.min(own ? nobody : everyone.rank(), site);
  if (failing == nobody) return {};
  Error shared = shared_error(everyone, own ? Error{} : own.error(), static_cast<int>(failing));
  return own ? fail(std::move(shared)) : own;
}

void sleeping_barrier(const Comm& everyone) {
  const Waiting waiting;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(everyone.handle().comm, &request), "MPI_Ibarrier");
  while (true) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace ullage::mpi
