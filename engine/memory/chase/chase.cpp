// SPDX-License-Identifier: Apache-2.0
// Workload `chase`: how long one access waits for memory at each distance.
#include "memory/chase/kernel.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_chase(const ChaseParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  Status ready = choose_node(parameters, parameters);
  auto kernel = std::make_unique<ChaseKernel>(parameters, context.run_key, context.world->topology().ranks_on_node,
                                              std::move(ready));
  return windowed_workload("chase", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_chase{without_storage<ChaseParameters>({
    .name = "chase",
    .doc = "Each thread follows pointers through its own memory. Each step waits for the one before.",
    .check = on_any_ranks(check_chase),
    .make = make_chase,
})};

}  // namespace
}  // namespace ullage
