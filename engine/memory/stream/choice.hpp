// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "memory/stream/job.hpp"

namespace ullage {

/// Loops of that kind with vectors of that many bytes, the widest first; 0: of any. None where the CPU has none.
[[nodiscard]] std::vector<const StreamLoops*> stream_candidates(StreamKind kind, Stores stores,
                                                                std::size_t vector_bytes);

/// The one of `candidates`, of which there is one at least, that goes through the job's arrays fastest: short trials of
/// each in turn, the median of each counts. On some CPUs the widest is not it. Leaves anything in the arrays.
[[nodiscard]] const StreamLoops& fastest_of(const std::vector<const StreamLoops*>& candidates, StreamKind kind,
                                            Stores stores, const StreamJob& job);

/// The part of `job` that trial number `trial` goes through: a piece of the arrays that the trials before have not
/// touched, while there are such, or all of them more than once where they are smaller than a piece.
[[nodiscard]] StreamJob trial_of(const StreamJob& job, std::size_t trial);

}  // namespace ullage
