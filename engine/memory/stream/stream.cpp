// SPDX-License-Identifier: Apache-2.0
// Workload `stream`: how fast memory at each distance is read and written.
#include "memory/stream/kernel.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_stream(const Values& values, const ComputeContext& context) {
  auto parameters = StreamParameters::from(values);
  Status ready = choose_node(parameters, parameters);
  auto kernel = std::make_unique<StreamKernel>(parameters, context.run_key, context.world->topology().ranks_on_node,
                                               std::move(ready));
  return std::make_unique<WindowedWorkload>("stream", parameters, context, std::move(kernel));
}

/// What stores this CPU has, and the instruction sets that a trial chooses from.
std::vector<std::string> stream_capabilities() {
  std::vector<std::string> words;
  for (const StreamLoops* const loops : stream_loops_here())
    words.push_back("loops:" + std::string(loops->instruction_set));
  if (!stream_candidates(StreamKind::write, Stores::non_temporal, 0).empty()) words.emplace_back("non-temporal");
  return words;
}

const Registered<WorkloadEntry> registered_stream{{
    .description = {.name = "stream",
                    .doc = "every thread goes through arrays of its own from end to end: read, write, McCalpin's "
                           "STREAM, and in place",
                    .parameters = specs_of(StreamParameters::table()),
                    .capabilities = stream_capabilities()},
    .work = ComputeWork{.check =
                            [](const Values& values, const PlannedLayout&, const std::string& pointer) {
                              return check_stream(StreamParameters::from(values), pointer);
                            },
                        .make = make_stream},
}};

}  // namespace
}  // namespace ullage
