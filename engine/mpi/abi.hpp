// SPDX-License-Identifier: Apache-2.0
// Which MPI this program was made for and runs with. Callable before MPI is up.
#pragma once

#include <string_view>

namespace ullage::mpi {

/// The binary interface of MPI that this program was made for: openmpi, mpich, mpi5 (the standard one), another; or
/// single, which is no MPI.
[[nodiscard]] std::string_view abi();

/// The kin of the library in use, by what it says of itself: openmpi, mpich, single or other.
[[nodiscard]] std::string_view family();

}  // namespace ullage::mpi
