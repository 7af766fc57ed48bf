// SPDX-License-Identifier: Apache-2.0
// Workload `updates`: HPC Challenge's RandomAccess, updates of a table at random places.
#include "memory/updates/kernel.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_updates(const Values& values, const ComputeContext& context) {
  const auto parameters = UpdatesParameters::from(values);
  auto kernel = std::make_unique<UpdatesKernel>(parameters, context.world->topology().ranks_on_node);
  return std::make_unique<WindowedWorkload>("updates", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_updates{{
    .description = {.name = "updates",
                    .doc = "all threads of a rank change one table at random places, without locks: HPC Challenge's "
                           "RandomAccess, verified "
                           "as there",
                    .parameters = specs_of(UpdatesParameters::table())},
    .work = ComputeWork{.check =
                            [](const Values& values, const PlannedLayout&, const std::string& pointer) {
                              return check_updates(UpdatesParameters::from(values), pointer);
                            },
                        .make = make_updates},
}};

}  // namespace
}  // namespace ullage
