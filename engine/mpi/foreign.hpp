// SPDX-License-Identifier: Apache-2.0
// MPI's handles for libraries that are found at run time and take them: only mpi/ knows their types.
#pragma once

#include <cstdint>

#include "mpi/comm.hpp"
#include "mpi/info.hpp"

namespace ullage::mpi {

/// Calls `function` of another library, which is an `int (*)(std::int64_t, MPI_Comm, MPI_Info)` of this MPI, and
/// returns what it returned.
[[nodiscard]] int call_foreign(void (*function)(), std::int64_t id, const Comm& comm, const Info& hints);

/// The hints in use of a file that another library has open: `file` points to its MPI_File.
[[nodiscard]] Map hints_of_foreign(const void* file);

}  // namespace ullage::mpi
