// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cstdlib>
#include <string>

#include "mpi/file.hpp"

namespace ullage::mpi {
namespace {

/// Open MPI's choice of components for a framework, wherever it was made (mpirun --mca, environment, parameter file):
/// its MCA parameters are MPI_T's control variables. Empty: no choice was made. Slow: MPI_T loads every component there
/// is, and that of Omni-Path calibrates a clock for 0.2 s.
std::string selection(const char* framework) {
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return {};
  std::string value;
  int index = 0;
  int count = 0;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  if (MPI_T_cvar_get_index(framework, &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) == MPI_SUCCESS) {
    std::string buffer(static_cast<std::size_t>(count) + 1, '\0');
    if (MPI_T_cvar_read(handle, buffer.data()) == MPI_SUCCESS) value = buffer.substr(0, buffer.find('\0'));
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

bool contains(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

std::string mpi_io_component() {
  const std::string version = library_version();
  if (contains(version, "Open MPI")) {
    static const std::string chosen = selection("io");
    // The library's own choice; on Lustre it may take ROMIO, which the hints of each file then show.
    if (chosen.empty() || chosen.starts_with('^')) return contains(chosen, "ompio") ? "romio" : "ompio";
    return chosen;
  }
  for (const char* with_romio : {"MPICH", "MVAPICH", "Intel", "CRAY"})
    if (contains(version, with_romio)) return "romio";
  return {};
}

}  // namespace ullage::mpi
