// SPDX-License-Identifier: Apache-2.0
// Workload `stream`: how fast memory at each distance is read and written.
#include "memory/stream/kernel.hpp"
#include "work/single_phase.hpp"

namespace ullage {
namespace {

std::unique_ptr<Workload> make_stream(const StreamParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  Status ready = choose_node(parameters, parameters);
  auto kernel = std::make_unique<StreamKernel>(parameters, context.run_key, context.world->topology().ranks_on_node,
                                               std::move(ready));
  return windowed_workload("stream", parameters, context, std::move(kernel));
}

/// Returns what stores this CPU has, and the instruction sets that a trial chooses from.
std::vector<std::string> stream_capabilities() {
  std::vector<std::string> words;
  for (const StreamLoops* const loops : stream_loops_here())
    words.push_back("loops:" + std::string(loops->instruction_set));
  if (!stream_candidates(StreamKind::write, Stores::non_temporal, 0).empty()) words.emplace_back("non-temporal");
  return words;
}

/// Made late, since it lists the loops that other files register.
WorkloadEntry stream_entry() {
  return without_storage<StreamParameters>({
      .name = "stream",
      .doc = "Each thread goes through its own arrays from end to end. The kernels read, write, work as McCalpin's "
             "STREAM, or change an array in place.",
      .capabilities = stream_capabilities(),
      .check = on_any_ranks(check_stream),
      .make = make_stream,
  });
}

const Registered<WorkloadEntry> registered_stream{stream_entry};

}  // namespace
}  // namespace ullage
