// SPDX-License-Identifier: Apache-2.0
// The entry points of a loaded BLAS, by the names its makers gave them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/parameters.hpp"
#include "base/result.hpp"

namespace ullage {

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

}  // namespace ullage
