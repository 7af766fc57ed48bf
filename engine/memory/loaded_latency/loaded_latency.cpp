// SPDX-License-Identifier: Apache-2.0
// Workload `loaded-latency`: how long one access waits while others load the memory.
#include "memory/loaded_latency/kernel.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_loaded_latency(const LoadedLatencyParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  parameters.threads = 1 + parameters.injectors;
  auto kernel =
      std::make_unique<LoadedLatencyKernel>(parameters, context.run_key, context.world->topology().ranks_on_node);
  return windowed_workload("loaded-latency", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_loaded_latency{without_storage<LoadedLatencyParameters>({
    .name = "loaded-latency",
    .doc = "One thread follows pointers while other threads read or write memory at a set rate.",
    .check = on_any_ranks(check_loaded_latency),
    .make = make_loaded_latency,
})};

}  // namespace
}  // namespace ullage
