// SPDX-License-Identifier: Apache-2.0
// Workload `loaded-latency`: how long one access waits while others load the memory.
#include "memory/loaded_latency/loaded_latency.hpp"

namespace ullage {
Table<LoadedLatencyParameters> LoadedLatencyParameters::table() {
  using P = LoadedLatencyParameters;
  return joined<P>(timing(),
                   Table<P>{count("injectors", &P::injectors, {0, 4095},
                                  "Load the memory with this many threads, besides the one that follows "
                                  "pointers."),
                            choice("injection", &P::injection,
                                   {{Injection::read, "read"},
                                    {Injection::write, "write"},
                                    {Injection::non_temporal_write, "non-temporal-write"}},
                                   "Choose what the injectors do. Each uses its own memory."),
                            count("delay", &P::delay, {0, 1e6},
                                  "Let an injector pause for this many steps of about one clock cycle after "
                                  "every 64 bytes."),
                            bytes("working_set_bytes", &P::working_set_bytes, {stream_line * 2.0, 1e15},
                                  "Use a working set of this many bytes for each thread."),
                            choice("pages", &P::pages, "Choose the pages of the memory, as for workload stream.")});
}

Status check_loaded_latency(const LoadedLatencyParameters& p, const std::string& pointer) {
  if (auto status = check_chase_shape(p.shape(), pointer); !status) return status;
  const std::uint64_t piece_bytes = lines_a_turn(p) * stream_line;
  if (p.injectors > 0 && p.working_set_bytes < piece_bytes)
    return fail(bad_plan(pointer + "/working_set_bytes",
                         "must be at least " + std::to_string(piece_bytes) + ", which an injector moves at a time"));
  if (stream_candidates(p.kind(), p.stores(), 0).empty())
    return fail(
        bad_plan(pointer + "/injection", "must be read or write: the engine has no non-temporal stores for this CPU"));
  return {};
}

namespace {

std::unique_ptr<Workload> make_loaded_latency(const LoadedLatencyParameters& given, const WorkloadContext& context) {
  auto parameters = given;
  parameters.threads = 1 + parameters.injectors;
  auto kernel =
      std::make_unique<LoadedLatencyKernel>(parameters, context.run_key, context.world->topology().ranks_on_node);
  return windowed_workload("loaded-latency", parameters, context, std::move(kernel));
}

const Registered<WorkloadEntry> registered_loaded_latency{without_storage<LoadedLatencyParameters>({
    .name = "loaded-latency",
    .doc = "One thread follows pointers while other threads read or write memory at a set rate.",
    .check = on_any_ranks(check_loaded_latency),
    .make = make_loaded_latency,
})};

}  // namespace
}  // namespace ullage
