// SPDX-License-Identifier: Apache-2.0
// One collective operation of MPI, called again and again by all ranks, alone or beside computation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "message/call_windows.hpp"
#include "message/collective_content.hpp"
#include "mpi/collectives.hpp"
#include "noise/fixed_chain.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class CollectiveMode { blocking, overlap };
enum class CollectiveRoot { rotating, first };

struct CollectiveParameters : CallWindowParameters {
  mpi::Collective operation = mpi::Collective::allreduce;
  std::uint64_t message_bytes = 8;
  mpi::Element element = mpi::Element::fp32;
  CollectiveMode mode = CollectiveMode::blocking;
  std::uint64_t tests = 0;
  CollectiveRoot root = CollectiveRoot::rotating;

  [[nodiscard]] static Table<CollectiveParameters> table();
  [[nodiscard]] mpi::CollectiveShape shape() const { return {operation, message_bytes, element}; }
};

/// Checks what spans parameters and layout.
[[nodiscard]] Status check_collective(const CollectiveParameters& parameters, int ranks, const std::string& pointer);

}  // namespace ullage
