// SPDX-License-Identifier: Apache-2.0
// Ranks of different builds may disagree about anything, and what they measure is of neither.
#pragma once

#include "base/result.hpp"
#include "mpi/comm.hpp"

namespace ullage {

struct BuildFacts;

/// Collective, before all else that ranks do together: what builds may come to differ in. The same on every rank: an
/// error names the lowest rank whose build is not rank 0's.
[[nodiscard]] Status check_same_build(const mpi::Comm& all);
/// The same of any facts.
[[nodiscard]] Status check_same_build(const mpi::Comm& all, const BuildFacts& own);

}  // namespace ullage
