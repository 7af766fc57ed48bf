// SPDX-License-Identifier: Apache-2.0
// A BLAS of this machine, loaded at run time: OpenBLAS, BLIS, MKL or the reference one, with 32-bit integers.
#pragma once

#include <string>

#include "linear/blas.hpp"

namespace ullage {

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
