// SPDX-License-Identifier: Apache-2.0
#include "mpi/foreign.hpp"

#include <memory>
#include <utility>

#include "mpi/handles.hpp"
#include "mpi/io_handles.hpp"

namespace ullage::mpi {

int call_foreign(void (*function)(), std::int64_t id, const Comm& comm, const Info& hints) {
  using Call = int (*)(std::int64_t, MPI_Comm, MPI_Info);
  return reinterpret_cast<Call>(function)(id, comm.handle().comm, hints.handle().info);
}

Map hints_of_foreign(const void* file) {
  auto handle = std::make_unique<Info::Handle>();
  if (MPI_File_get_info(*static_cast<const MPI_File*>(file), &handle->info) != MPI_SUCCESS) return {};
  return Info(std::move(handle)).to_map();
}

}  // namespace ullage::mpi
