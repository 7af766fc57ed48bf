// SPDX-License-Identifier: Apache-2.0
// Workload `fixed-work`: the machine's noise, by work that always takes the same number of cycles.
#include "noise/fixed_work.hpp"

namespace ullage {
namespace {

constexpr std::int64_t looks_a_detour = 10;
constexpr int looks = 2000;

const Registered<WorkloadEntry> registered_fixed_work{without_storage<FixedWorkParameters>({
    .name = "fixed-work",
    .doc = "Times quanta of the same work on each thread, then watches for detours: times when something else runs on "
           "the thread's core.",
    .make = single_phase<FixedWorkPhase>,
})};

}  // namespace

std::int64_t detour_from_ns(std::int64_t look_ns) { return std::max(usual_detour_ns, looks_a_detour * look_ns); }

std::int64_t time_of_a_look_ns() {
  std::int64_t shortest = usual_detour_ns * looks_a_detour;
  std::int64_t last = now_ns();
  for (int i = 0; i < looks; ++i) {
    const std::int64_t now = now_ns();
    shortest = std::min(shortest, now - last);
    last = now;
  }
  return shortest;
}

Table<FixedWorkParameters> FixedWorkParameters::table() {
  using P = FixedWorkParameters;
  return {
      count("threads", &P::threads, {1, 4096}, "Run this many threads on each rank, each on its own core."),
      seconds("quantum_s", &P::quantum_s, {2e-5, 0.1}, "Size a quantum of work to last this many seconds undisturbed."),
      count("quanta", &P::quanta, {1, 10'000'000}, "Run this many quanta on each thread, one after the other."),
      seconds("watch_s", &P::watch_s, {0, 3600},
              "Watch for detours for this many seconds after the quanta; 0 means no watch."),
      seconds("warm_up_s", &P::warm_up_s, {0, 60}, "Run the same work for this many seconds before the first quantum."),
  };
}

}  // namespace ullage
