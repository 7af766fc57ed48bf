// SPDX-License-Identifier: Apache-2.0
// Beginning and end of MPI in this process.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "base/std.hpp"
#include "mpi/abi.hpp"
#include "mpi/comm.hpp"
#include "mpi/error.hpp"
#include "mpi/file.hpp"

namespace ullage::mpi {
namespace {

constexpr std::chrono::seconds longest_abort{5};

bool contains(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

/// Up, and this thread is one that may call it. The four questions may be asked at any time from any thread.
bool may_call_mpi() {
  int initialized = 0;
  int finalized = 0;
  if (MPI_Initialized(&initialized) != MPI_SUCCESS || initialized == 0) return false;
  if (MPI_Finalized(&finalized) != MPI_SUCCESS || finalized != 0) return false;
  int level = MPI_THREAD_SINGLE;
  int is_main = 0;
  if (MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE) return true;
  return MPI_Is_thread_main(&is_main) == MPI_SUCCESS && is_main != 0;
}

/// MPI_Abort waits for the library's lock, which a rank that hangs inside a call may hold for ever.
void end_process_after(std::chrono::seconds patience, int exit_code) {
  try {
    std::thread([patience, exit_code] {
      std::this_thread::sleep_for(patience);
      _exit(exit_code);
    }).detach();
  } catch (const std::exception&) {
    _exit(exit_code);
  }
}

/// Returns what most programs ask for, so that messages take no locks: with Open MPI these are a fifth of a short one's
/// time at any higher level. Our other threads never call MPI. But where the launcher's environment asks MPICH for
/// more, that: its waiting ranks leave their core only then.
int wanted_level() {
  const char* told = std::getenv("MPIR_CVAR_DEFAULT_THREAD_LEVEL");
  const bool more = told != nullptr && std::string_view(told) == "MPI_THREAD_MULTIPLE";
  return more ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

}  // namespace

Environment::Environment(int* argc, char*** argv) {
  int level = MPI_THREAD_SINGLE;
  check(MPI_Init_thread(argc, argv, wanted_level(), &level), "MPI_Init_thread");
  check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Environment::~Environment() { check(MPI_Finalize(), "MPI_Finalize"); }

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return {};
  return one_line(text.data());
}

std::string_view abi() {
#if defined(ULLAGE_MPI_ABI)
  return ULLAGE_MPI_ABI;
#elif defined(ULLAGE_SINGLE_MPI)
  return "single";
#elif defined(OPEN_MPI)
  return "openmpi";
#elif defined(MPICH_VERSION)
  return "mpich";
#else
  return "other";
#endif
}

std::string_view family() {
  if (abi() == "single") return "single";
  const std::string version = library_version();
  if (contains(version, "Open MPI")) return "openmpi";
  for (const char* with_romio : {"MPICH", "MVAPICH", "Intel", "CRAY"})
    if (contains(version, with_romio)) return "mpich";
  return "other";
}

void abort_all(int exit_code) {
  if (may_call_mpi()) {
    end_process_after(longest_abort, exit_code);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  _exit(exit_code);
}

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

}  // namespace

std::string mpi_io_component() {
  if (family() == "openmpi") {
    static const std::string chosen = selection("io");
    // The library's own choice; on Lustre it may take ROMIO, which the hints of each file then show.
    if (chosen.empty() || chosen.starts_with('^')) return contains(chosen, "ompio") ? "romio" : "ompio";
    return chosen;
  }
  return family() == "mpich" ? "romio" : "";
}

}  // namespace ullage::mpi
