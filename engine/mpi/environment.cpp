// SPDX-License-Identifier: Apache-2.0
// Beginning and end of MPI in this process.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "mpi/comm.hpp"
#include "mpi/error.hpp"

namespace ullage::mpi {
namespace {

constexpr std::chrono::seconds longest_abort{5};

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

std::string processor_name() {
  std::array<char, MPI_MAX_PROCESSOR_NAME + 1> name{};
  int length = 0;
  check(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
  return name.data();
}

void abort_all(int exit_code) {
  if (may_call_mpi()) {
    end_process_after(longest_abort, exit_code);
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  _exit(exit_code);
}

}  // namespace ullage::mpi
