// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "mpi/comm.hpp"
#include "mpi/file.hpp"
#include "storage/viewed_file.hpp"

namespace ullage {

/// `everyone`: the ranks that opened it together, which outlives it; null when it is this rank's own.
[[nodiscard]] std::unique_ptr<ViewedFile> make_mpiio_viewed_file(mpi::File file, std::string path,
                                                                 const mpi::Comm* everyone);

}  // namespace ullage
