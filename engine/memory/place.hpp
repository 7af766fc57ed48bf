// SPDX-License-Identifier: Apache-2.0
// Where the memory of a workload lies and on which CPUs its threads run: parameters that several workloads share.
#pragma once

#include <utility>

#include "base/affinity.hpp"
#include "memory/numa.hpp"
#include "memory/pages.hpp"
#include "work/windowed_phase.hpp"

namespace ullage {

struct MemoryPlace {
  Pages pages = Pages::system;
  int memory_node = -1;
  int cpu_node = -1;

  [[nodiscard]] static Table<MemoryPlace> table() {
    using P = MemoryPlace;
    return {
        choice("pages", &P::pages,
               "Choose the pages of the memory: as the system decides, small ones only, or huge ones on request. Value "
               "huge_bytes says what the memory got."),
        count("memory_node", &P::memory_node, {-1, 1023},
              "Bind all memory to this memory node; -1 means the node where the thread that uses it runs."),
        count("cpu_node", &P::cpu_node, {-1, 1023}, "Run the threads on the CPUs of this node; -1 means any node."),
    };
  }
};

/// Puts the CPUs of the chosen node into `window`. An error when there are none; the threads may then run anywhere,
/// as long as they do nothing.
[[nodiscard]] inline Status choose_node(WindowParameters& window, const MemoryPlace& place) {
  if (place.cpu_node < 0) return {};
  return take_into(window.cpus, cpus_of_node(place.cpu_node, allowed_cpus()));
}

}  // namespace ullage
