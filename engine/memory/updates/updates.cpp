// SPDX-License-Identifier: Apache-2.0
// Workload `updates`: HPC Challenge's RandomAccess, updates of a table at random places.
#include "memory/updates/kernel.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_updates(const UpdatesParameters& parameters, const WorkloadContext& context) {
  auto kernel = std::make_unique<UpdatesKernel>(parameters, context.world->topology().ranks_on_node);
  return windowed_workload("updates", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_updates{without_storage<UpdatesParameters>({
    .name = "updates",
    .doc = "All threads of a rank change one table at random places, without locks. This is HPC Challenge's "
           "RandomAccess, verified in the same way.",
    .check = on_any_ranks(check_updates),
    .make = make_updates,
})};

}  // namespace
}  // namespace ullage
