// SPDX-License-Identifier: Apache-2.0
// Workload `loaded-latency`: how long one access waits while others load the memory.
#include "memory/loaded_latency/kernel.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_loaded_latency(const Values& values, const ComputeContext& context) {
  const auto parameters = LoadedLatencyParameters::from(values);
  auto kernel =
      std::make_unique<LoadedLatencyKernel>(parameters, context.run_key, context.world->topology().ranks_on_node);
  return std::make_unique<WindowedWorkload>("loaded-latency", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_loaded_latency{{
    .description = {.name = "loaded-latency",
                    .doc = "one thread follows pointers while others read or write as fast as they are told to",
                    .parameters = specs_of(LoadedLatencyParameters::table())},
    .work = ComputeWork{.check =
                            [](const Values& values, const PlannedLayout&, const std::string& pointer) {
                              return check_loaded_latency(LoadedLatencyParameters::from(values), pointer);
                            },
                        .make = make_loaded_latency},
}};

}  // namespace
}  // namespace ullage
