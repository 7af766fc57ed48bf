// SPDX-License-Identifier: Apache-2.0
#include "memory/place.hpp"

#include <utility>

#include "base/affinity.hpp"

namespace ullage {

Table<MemoryPlace> MemoryPlace::table() {
  using P = MemoryPlace;
  return {
      choice("pages", &P::pages, pages_words(),
             "as the system does it, small ones only, or huge ones asked for (what came of it: huge_bytes)"),
      count("memory_node", &P::memory_node, {-1, 1023},
            "the memory node that all memory is bound to; -1: where the thread that uses it runs"),
      count("cpu_node", &P::cpu_node, {-1, 1023}, "the node on whose CPUs the threads run; -1: any"),
  };
}

Status choose_node(WindowParameters& window, const MemoryPlace& place) {
  if (place.cpu_node < 0) return {};
  auto cpus = cpus_of_node(place.cpu_node, allowed_cpus());
  if (!cpus) return fail(cpus.error());
  window.cpus = std::move(*cpus);
  return {};
}

}  // namespace ullage
