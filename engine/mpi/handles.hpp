// SPDX-License-Identifier: Apache-2.0
// What the abstract handles of mpi/ hold. Included inside mpi/ only.
#pragma once

#include <mpi.h>

#include "base/std.hpp"
#include "mpi/collective_check.hpp"
#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "mpi/info.hpp"
#include "mpi/waits.hpp"

namespace ullage::mpi {

struct Comm::Handle {
  MPI_Comm comm = MPI_COMM_NULL;
  bool owned = false;
  mutable std::uint64_t collectives = 0;  // entered through this object, where that is counted
  mutable MismatchReporter on_mismatch;   // empty: all ranks are ended
};

/// Says whether this build compares where ranks call collectives from; CMake says so.
inline constexpr bool checks_collectives = ULLAGE_CHECK_COLLECTIVES != 0;

/// Comes before every collective, in which it is a wait for as long as it lives.
class [[nodiscard]] Entered final {
 public:
  Entered(const Comm::Handle& handle, const CallSite& site) {
    if constexpr (checks_collectives) check_call_site(handle, site);
  }

 private:
  Waiting waiting_;
};

/// Whether the library in use has what version 4 of MPI has brought; it may be older than the header.
inline bool has_version_4() {
  int version = 0;
  int part = 0;
  return MPI_Get_version(&version, &part) == MPI_SUCCESS && version >= 4;
}

// What the abstract handles of MPI-IO hold. Included inside mpi/ only.

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
