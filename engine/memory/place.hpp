// SPDX-License-Identifier: Apache-2.0
// Where the memory of a workload lies and on which CPUs its threads run: parameters that several workloads share.
#pragma once

#include "memory/numa.hpp"
#include "memory/pages.hpp"
#include "work/windowed_phase.hpp"

namespace ullage {

struct MemoryPlace {
  Pages pages = Pages::system;
  int memory_node = -1;
  int cpu_node = -1;

  [[nodiscard]] static Table<MemoryPlace> table();
};

/// Puts the CPUs of the chosen node into `window`. An error when there are none; the threads may then run anywhere,
/// as long as they do nothing.
[[nodiscard]] Status choose_node(WindowParameters& window, const MemoryPlace& place);

}  // namespace ullage
