// SPDX-License-Identifier: Apache-2.0
// Workload `core-to-core`: how long a cache line takes from one core to another and back.
#include "memory/core_to_core/kernel.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_core_to_core(const Values& values, const ComputeContext& context) {
  auto parameters = CoreToCoreParameters::from(values);
  auto pair = choose_pair(parameters, allowed_cpus());
  if (pair) parameters.cpus = *pair;
  auto kernel = std::make_unique<CoreToCoreKernel>(pair ? Status{} : fail(pair.error()));
  return std::make_unique<WindowedWorkload>("core-to-core", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_core_to_core{{
    .description = {.name = "core-to-core",
                    .doc = "two threads pass a counter to and fro in one cache line, by plain loads and stores",
                    .parameters = specs_of(CoreToCoreParameters::table())},
    .work = ComputeWork{.check =
                            [](const Values& values, const PlannedLayout&, const std::string& pointer) {
                              return check_core_to_core(CoreToCoreParameters::from(values), pointer);
                            },
                        .make = make_core_to_core},
}};

}  // namespace
}  // namespace ullage
