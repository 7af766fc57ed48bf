// SPDX-License-Identifier: Apache-2.0
// A ScaLAPACK of this machine, loaded at run time, that talks through the MPI we run under.
#pragma once

#include <cstddef>
#include <string>

#include "base/parameters.hpp"
#include "base/result.hpp"

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

/// Loads it, once in a process, as load_blas() does. An error when it is linked with another MPI than this program:
/// its messages would go nowhere.
[[nodiscard]] Result<const Scalapack*> load_scalapack(const ScalapackChoice& choice);

}  // namespace ullage
