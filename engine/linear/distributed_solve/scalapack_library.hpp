// SPDX-License-Identifier: Apache-2.0
// A ScaLAPACK of this machine, loaded at run time, that talks through the MPI we run under.
#pragma once

#include <dlfcn.h>

#include <mutex>

#include "base/parameters.hpp"
#include "base/result.hpp"
#include "base/shared_library.hpp"
#include "base/std.hpp"
#include "linear/blas_library.hpp"
#include "mpi/abi.hpp"
#include "mpi/comm.hpp"

namespace ullage {

/// Says which one. Empty: the first that the dynamic linker finds by the names this MPI's has; the kernels its BLAS
/// chooses.
struct ScalapackChoice {
  std::string library;  // a path, or a name that the dynamic linker finds
  std::string core;     // a word of OPENBLAS_CORETYPE, for its BLAS
  friend bool operator==(const ScalapackChoice&, const ScalapackChoice&) = default;
};

/// Fortran's convention, see BlasCalls. Source: netlib's ScaLAPACK and BLACS.
struct Scalapack {
  using Get = void (*)(const int* context, const int* what, int* value);
  using GridInit = void (*)(int* context, const char* order, const int* rows, const int* columns, std::size_t);
  using GridInfo = void (*)(const int* context, int* rows, int* columns, int* row, int* column);
  using GridExit = void (*)(const int* context);
  using Gesv = void (*)(const int* n, const int* right_sides, double* a, const int* ia, const int* ja, const int* of_a,
                        int* pivots, double* b, const int* ib, const int* jb, const int* of_b, int* info);

  Get get = nullptr;
  GridInit grid_init = nullptr;
  GridInfo grid_info = nullptr;
  GridExit grid_exit = nullptr;
  Gesv pdgesv = nullptr;
  void (*set_threads)(int) = nullptr;  // of its BLAS; null: it cannot be told
  Map facts;                           // `library` and `blas`: the files; `core` and `config` as its BLAS says
};

inline Error scalapack_error(const std::string& text) { return environment_error("ScaLAPACK", text); }

inline std::string mpi_family() { return mpi::family() == "openmpi" ? "openmpi" : "mpich"; }

/// Debian's and the makers' own; a site's under a plain name may be for any MPI, which is found out afterwards.
inline std::vector<std::string> usual_scalapacks() {
  std::vector<std::string> names;
  for (const char* version : {"2.2", "2.1"}) names.push_back("libscalapack-" + mpi_family() + ".so." + version);
  for (const char* name : {"libscalapack.so.2.2", "libscalapack.so.2", "libscalapack.so"}) names.emplace_back(name);
  return names;
}

inline Result<void*> open_scalapack(const std::string& name) {
  const std::vector<std::string> named{name};
  return load_library("ScaLAPACK", name.empty() ? usual_scalapacks() : named, RTLD_LAZY | RTLD_LOCAL,
                      linear_library_room_bytes());
}

/// The function of that name as the library behind `handle` sees it, itself and what it is linked with.
template <class Function>
Function function_of(void* handle, const char* name) {
  return reinterpret_cast<Function>(dlsym(handle, name));
}

inline std::string file_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "not known";
}

inline Map facts_of_scalapack(void* handle) {
  Map facts{{"library", file_of(dlsym(handle, "pdgesv_"))}, {"blas", file_of(dlsym(handle, "dgemm_"))}};
  using Text = const char* (*)();
  if (const auto core = function_of<Text>(handle, "openblas_get_corename")) facts["core"] = core();
  if (const auto config = function_of<Text>(handle, "openblas_get_config")) facts["config"] = config();
  return facts;
}

/// `chosen` becomes the choice where it is loaded, right or not.
inline Result<Scalapack> load_chosen(const ScalapackChoice& choice, std::optional<ScalapackChoice>& chosen) {
  const KernelChoice kernels(choice.core);
  const auto opened = open_scalapack(choice.library);
  if (!opened) return fail(opened.error());
  chosen = choice;
  void* handle = *opened;
  Scalapack calls;
  calls.pdgesv = function_of<Scalapack::Gesv>(handle, "pdgesv_");
  calls.get = function_of<Scalapack::Get>(handle, "blacs_get_");
  calls.grid_init = function_of<Scalapack::GridInit>(handle, "blacs_gridinit_");
  calls.grid_info = function_of<Scalapack::GridInfo>(handle, "blacs_gridinfo_");
  calls.grid_exit = function_of<Scalapack::GridExit>(handle, "blacs_gridexit_");
  if (calls.pdgesv == nullptr || calls.get == nullptr || calls.grid_init == nullptr || calls.grid_info == nullptr ||
      calls.grid_exit == nullptr)
    return fail(scalapack_error("'" + choice.library + "' has no pdgesv or no BLACS"));
  const void* const theirs = dlsym(handle, "MPI_Comm_size");
  if (theirs == nullptr || theirs != dlsym(RTLD_DEFAULT, "MPI_Comm_size"))
    return fail(scalapack_error(file_of(reinterpret_cast<void*>(calls.pdgesv)) +
                                " is linked with a different MPI than this engine; use one for " + mpi_family()));
  calls.set_threads = function_of<void (*)(int)>(handle, "openblas_set_num_threads");
  calls.facts = facts_of_scalapack(handle);
  return calls;
}

/// Loads it, once in a process, as load_blas() does. An error when it is linked with another MPI than this program:
/// its messages would go nowhere.
[[nodiscard]] inline Result<const Scalapack*> load_scalapack(const ScalapackChoice& choice) {
  static std::mutex mutex;  // guards the two below, and the loading itself
  static std::optional<ScalapackChoice> chosen;
  static Result<Scalapack> loaded;
  const std::scoped_lock lock(mutex);
  if (!chosen) loaded = load_chosen(choice, chosen);
  if (chosen && *chosen != choice)
    return fail(scalapack_error("this launch has loaded '" + chosen->library + "' and cannot load '" + choice.library +
                                "' as well; run them in separate launches"));
  if (!loaded) return fail(loaded.error());
  return &*loaded;
}

}  // namespace ullage
