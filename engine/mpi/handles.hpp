// SPDX-License-Identifier: Apache-2.0
// What the abstract handles of mpi/ hold. Included inside mpi/ only.
#pragma once

#include <mpi.h>

#include "mpi/comm.hpp"

namespace ullage::mpi {

struct Comm::Handle {
  MPI_Comm comm = MPI_COMM_NULL;
  bool owned = false;
};

}  // namespace ullage::mpi
