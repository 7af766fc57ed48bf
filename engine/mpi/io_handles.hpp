// SPDX-License-Identifier: Apache-2.0
// What the abstract handles of MPI-IO hold. Included inside mpi/ only.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/file.hpp"
#include "mpi/info.hpp"

namespace ullage::mpi {

struct Info::Handle {
  MPI_Info info = MPI_INFO_NULL;
};

struct File::Handle {
  MPI_File file = MPI_FILE_NULL;
  bool alone = true;               // one rank opened it: closing it waits for nobody
  MPI_Datatype unit = MPI_DOUBLE;  // of the view in use
  std::size_t unit_bytes = sizeof(double);
};

}  // namespace ullage::mpi
