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
};

template <class P>
Field<P> pages_field() {
  return choice<P>("pages", static_cast<Pages P::*>(&MemoryPlace::pages), pages_words(),
                   "as the system does it, small ones only, or huge ones asked for (what came of it: huge_bytes)");
}

/// The fields of a struct P that derives from MemoryPlace.
template <class P>
Table<P> place_fields() {
  return {
      pages_field<P>(),
      count<P>("memory_node", static_cast<int P::*>(&MemoryPlace::memory_node), {-1, 1023},
               "the memory node that all memory is bound to; -1: where the thread that uses it runs"),
      count<P>("cpu_node", static_cast<int P::*>(&MemoryPlace::cpu_node), {-1, 1023},
               "the node on whose CPUs the threads run; -1: any"),
  };
}

/// Puts the CPUs of the chosen node into `window`. An error when there are none; the threads may then run anywhere,
/// as long as they do nothing.
[[nodiscard]] inline Status choose_node(WindowParameters& window, const MemoryPlace& place) {
  if (place.cpu_node < 0) return {};
  auto cpus = cpus_of_node(place.cpu_node, allowed_cpus());
  if (!cpus) return fail(cpus.error());
  window.cpus = std::move(*cpus);
  return {};
}

template <class P>
Table<P> joined(Table<P> first, Table<P> second) {
  for (Field<P>& field : second) first.push_back(std::move(field));
  return first;
}

}  // namespace ullage
