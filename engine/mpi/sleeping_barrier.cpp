// SPDX-License-Identifier: Apache-2.0
#include "mpi/sleeping_barrier.hpp"

#include <chrono>
#include <thread>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {

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
