// SPDX-License-Identifier: Apache-2.0
// Workload `chase`: how long one access waits for memory at each distance.
#include "memory/chase/kernel.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_chase(const Values& values, const ComputeContext& context) {
  auto parameters = ChaseParameters::from(values);
  Status ready = choose_node(parameters, parameters);
  auto kernel = std::make_unique<ChaseKernel>(parameters, context.run_key, context.world->topology().ranks_on_node,
                                              std::move(ready));
  return std::make_unique<WindowedWorkload>("chase", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_chase{{
    .description = {.name = "chase",
                    .doc =
                        "every thread follows pointers through memory of its own, each step waiting for the one before",
                    .parameters = specs_of(ChaseParameters::table())},
    .work = ComputeWork{.check =
                            [](const Values& values, const PlannedLayout&, const std::string& pointer) {
                              return check_chase(ChaseParameters::from(values), pointer);
                            },
                        .make = make_chase},
}};

}  // namespace
}  // namespace ullage
