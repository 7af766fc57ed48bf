// SPDX-License-Identifier: Apache-2.0
// What the ranks of a launch do together whatever is measured, alone: how its cost grows with their number.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// Memory of this process, as the kernel counts it; zeros where it does not say.
struct ProcessMemory {
  std::uint64_t resident_bytes = 0;      // mapped and in memory
  std::uint64_t proportional_bytes = 0;  // what several processes map counts once among them
  std::uint64_t private_bytes = 0;       // nobody else maps
};
[[nodiscard]] ProcessMemory process_memory();

/// Collective. Makes communicators, agreements, reductions and a phase record of made-up accounts `times` times each,
/// and compares what comes out with what must. `before` is the memory of this rank before it made any communicator. On
/// rank 0 the result has `ranks`, `nodes`, `times`, `memory` (bytes: most and sum over the ranks, before and
/// afterwards), `record_bytes` (of the phase record) and `steps`: each with `name`, `right` (on all ranks), `median_ns`
/// and `least_ns` (of the slowest rank). Elsewhere it is null.
[[nodiscard]] nlohmann::json measure_reductions(const ProcessMemory& before, std::size_t times);

/// The names of the steps that were wrong; an error when there are any.
[[nodiscard]] Status all_right(const nlohmann::json& reductions);

}  // namespace ullage
