// SPDX-License-Identifier: Apache-2.0
// Workload `updates`: HPC Challenge's RandomAccess, updates of a table at random places.
#include "memory/updates/kernel.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_updates(const Values& values, const WorkloadContext& context) {
  const auto parameters = UpdatesParameters::from(values);
  auto kernel = std::make_unique<UpdatesKernel>(parameters, context.world->topology().ranks_on_node);
  return std::make_unique<WindowedWorkload>("updates", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_updates{{
    {"updates",
     "all threads of a rank change one table at random places, without locks: HPC Challenge's RandomAccess, verified "
     "as there",
     specs_of(UpdatesParameters::table()),
     {"no-storage"},
     {}},
    [](const Values& values, const Capabilities&, const PlannedLayout&, const std::string& pointer) {
      return check_updates(UpdatesParameters::from(values), pointer);
    },
    [](const Values&, const PlannedLayout&) { return Needs{}; },
    make_updates,
    nullptr,
    false,
}};

}  // namespace
}  // namespace ullage
