// SPDX-License-Identifier: Apache-2.0
// Workload `core-to-core`: how long a cache line takes from one core to another and back.
#include "base/affinity.hpp"
#include "memory/core_to_core/kernel.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_core_to_core(const CoreToCoreParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  auto pair = choose_pair(parameters, allowed_cpus());
  if (pair) parameters.cpus = *pair;
  auto kernel = std::make_unique<CoreToCoreKernel>(pair ? Status{} : fail(pair.error()));
  return windowed_workload("core-to-core", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_core_to_core{without_storage<CoreToCoreParameters>({
    .name = "core-to-core",
    .doc = "Two threads pass a counter back and forth in one cache line, by ordinary loads and stores.",
    .check = on_any_ranks(check_core_to_core),
    .make = make_core_to_core,
})};

}  // namespace
}  // namespace ullage
