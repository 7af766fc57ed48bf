// SPDX-License-Identifier: Apache-2.0
// One launch: plan in, records out.
#pragma once

#include <string>

#include "mpi/comm.hpp"

namespace ullage {

namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int bad_plan = 2;
inline constexpr int environment = 3;
inline constexpr int case_failed = 4;
inline constexpr int aborted = 5;
}  // namespace exit_code

/// Collective. Returns the same exit code on every rank; errors before the first record are one line on rank 0's
/// stderr.
[[nodiscard]] int run_plan(const std::string& plan_path, const mpi::World& world);

}  // namespace ullage
