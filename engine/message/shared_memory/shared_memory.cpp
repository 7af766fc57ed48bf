// SPDX-License-Identifier: Apache-2.0
// Workload `shared-memory`: what messages within a node cost at least.
#include "message/shared_memory/shared_memory.hpp"

#include "work/entry.hpp"

namespace ullage {

Table<SharedMemoryParameters> SharedMemoryParameters::table() {
  using P = SharedMemoryParameters;
  return joined<P>(
      Table<P>{
          choice<P>("copiers", &P::copiers, {{Copiers::one, "one"}, {Copiers::half, "half"}, {Copiers::all, "all"}},
                    "Choose who copies: with one, the last rank copies from the first; with half, each rank of the "
                    "second half copies from one of the first; with all, each rank copies from the rank before it."),
          bytes("message_bytes", &P::message_bytes, {1, 1 << 30}, "Set the bytes of a copy."),
          count("buffers", &P::buffers, {1, 4096},
                "Copy this many messages in turn, each from and to a place of its own."),
      },
      CallWindowParameters::table(), MessagePages::table());
}

namespace {

Status check_shared_memory(const SharedMemoryParameters&, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "needs two ranks or more, since each copies from another"));
  return {};
}

const Registered<WorkloadEntry> registered_shared_memory{without_storage<SharedMemoryParameters>({
    .name = "shared-memory",
    .doc = "Ranks of a node copy the bytes of a message out of each other's memory, once, and pass a cache line: the "
           "least that a message between them costs.",
    .check = check_shared_memory,
    .make = single_phase<SharedMemoryPhase>,
})};

}  // namespace
}  // namespace ullage
