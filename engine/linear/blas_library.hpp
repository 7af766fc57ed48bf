// SPDX-License-Identifier: Apache-2.0
// A BLAS of this machine, loaded at run time: OpenBLAS, BLIS, MKL or the reference one, with 32-bit integers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "base/parameters.hpp"
#include "base/result.hpp"
#include "linear/blas.hpp"

namespace ullage {

// How OpenBLAS is told whose kernels to take.

/// It looks while it is loaded, which is while this lives; then the variable is what it was. `core`: a word of
/// OPENBLAS_CORETYPE; empty: nothing is told.
class KernelChoice final {
 public:
  explicit KernelChoice(const std::string& core) : is_set_(!core.empty()) {
    if (const char* const found = std::getenv(variable); found != nullptr) before_ = found;
    if (is_set_) setenv(variable, core.c_str(), 1);
  }
  KernelChoice(const KernelChoice&) = delete;
  KernelChoice& operator=(const KernelChoice&) = delete;
  ~KernelChoice() {
    if (is_set_ && before_) setenv(variable, before_->c_str(), 1);
    if (is_set_ && !before_) unsetenv(variable);
  }

 private:
  static constexpr const char* variable = "OPENBLAS_CORETYPE";
  bool is_set_;
  std::optional<std::string> before_;
};

// The entry points of a loaded BLAS, by the names its makers gave them.

/// Fortran's convention: everything by address, and after the others the length of each text (gfortran's ABI; a C
/// routine does not look at them). Integers have 32 bits. Source: netlib's BLAS and LAPACK.
struct BlasCalls {
  template <class T>
  using Gemm = void (*)(const char* trans_a, const char* trans_b, const int* m, const int* n, const int* k,
                        const T* alpha, const T* a, const int* lda, const T* b, const int* ldb, const T* beta, T* c,
                        const int* ldc, std::size_t, std::size_t);
  using Trsm = void (*)(const char* side, const char* uplo, const char* trans, const char* diag, const int* m,
                        const int* n, const double* alpha, const double* a, const int* lda, double* b, const int* ldb,
                        std::size_t, std::size_t, std::size_t, std::size_t);
  using Trsv = void (*)(const char* uplo, const char* trans, const char* diag, const int* n, const double* a,
                        const int* lda, double* x, const int* incx, std::size_t, std::size_t, std::size_t);
  using Getrf = void (*)(const int* m, const int* n, double* a, const int* lda, int* pivots, int* info);
  using SetThreads = void (*)(int);
  using GetThreads = int (*)();
  using Text = const char* (*)();
  using SetThreadsLong = void (*)(std::int64_t);
  using GetThreadsLong = std::int64_t (*)();
  using Architecture = int (*)();
  using ArchitectureText = const char* (*)(int);

  Gemm<double> dgemm = nullptr;
  Gemm<float> sgemm = nullptr;
  Trsm dtrsm = nullptr;
  Trsv dtrsv = nullptr;
  Getrf dgetrf = nullptr;            // null: a BLAS without LAPACK
  SetThreads set_threads = nullptr;  // OpenBLAS's and MKL's; null: it cannot be told that way
  GetThreads get_threads = nullptr;
  SetThreadsLong set_threads_long = nullptr;  // BLIS's
  GetThreadsLong get_threads_long = nullptr;
  Text core = nullptr;                  // OpenBLAS's; null: it does not say
  Architecture architecture = nullptr;  // BLIS's, and its name
  ArchitectureText architecture_text = nullptr;
  Text config = nullptr;
};

/// The functions of the library behind `handle` (dlopen's), by their plain names or those that the `scipy-openblas32`
/// wheel gives them. An error when it is no BLAS, or one of 64-bit integers.
[[nodiscard]] Result<BlasCalls> find_calls(void* handle);

/// See Blas::facts.
[[nodiscard]] Map facts_of(const BlasCalls& calls);

/// Says which one. Empty: the first that the dynamic linker finds; the kernels it chooses itself.
struct BlasChoice {
  std::string library;  // a path, or a name that the dynamic linker finds
  std::string core;     // whose kernels: a word of OPENBLAS_CORETYPE (Haswell, SkylakeX ...)
  friend bool operator==(const BlasChoice&, const BlasChoice&) = default;
};

/// Loads it, once in a process: a library chooses its kernels while it is loaded, and stays. So a later call with
/// another choice is refused; such cases belong into launches of their own.
[[nodiscard]] Result<Blas*> load_blas(const BlasChoice& choice);
[[nodiscard]] inline BlasSource blas_source(BlasChoice choice) {
  return [choice = std::move(choice)] { return load_blas(choice); };
}

}  // namespace ullage
