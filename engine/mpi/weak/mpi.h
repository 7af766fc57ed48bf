// SPDX-License-Identifier: Apache-2.0
// The mpi.h that comes next, with weak names: a program that uses them is linked with no file of an MPI, and finds them
// in the one that was loaded before it.
#if !defined(ULLAGE_WEAK_MPI_H)
#define ULLAGE_WEAK_MPI_H
#define MPICH_NO_ATTR_TYPE_TAGS  // variables of the header's own, which cannot be weak
#pragma clang attribute push(__attribute__((weak)), apply_to = any(function, variable(is_global)))
#include_next <mpi.h>
#pragma clang attribute pop
#endif
