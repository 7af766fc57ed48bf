// SPDX-License-Identifier: Apache-2.0
// Workload `stream`: how fast memory at each distance is read and written.
#include "memory/stream/stream.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t most_blocks = std::numeric_limits<std::uint32_t>::max();

std::string widths() {
  std::string text;
  for (const StreamLoops* const loops : stream_loops_here())
    text += (text.empty() ? "" : ", ") + std::to_string(loops->vector_bytes);
  return text;
}

Status check_blocks(const StreamParameters& p, const std::string& pointer) {
  if (p.block_bytes % stream_line != 0) return fail(bad_plan(pointer + "/block_bytes", "must be a multiple of 64"));
  if (p.order == BlockOrder::random && p.block_bytes == 0)
    return fail(bad_plan(pointer + "/block_bytes", "must be above 0 with order random, which shuffles the blocks"));
  return {};
}

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

Table<StreamParameters> StreamParameters::table() {
  using P = StreamParameters;
  return joined<P>(
      WindowParameters::table(),
      Table<P>{
          choice("kernel", &P::kind,
                 {{StreamKind::read, "read"},
                  {StreamKind::write, "write"},
                  {StreamKind::copy, "copy"},
                  {StreamKind::scale, "scale"},
                  {StreamKind::add, "add"},
                  {StreamKind::triad, "triad"},
                  {StreamKind::read_write, "read-write"}},
                 "Choose the kernel: read (`sum of b`), write (`a = s`), copy (`a = b`), scale (`a = s*b`), add (`a = "
                 "b + c`), triad (`a = b + s*c`) or read-write (`a = a + 1`, in place)."),
          choice("stores", &P::stores, {{Stores::ordinary, "ordinary"}, {Stores::non_temporal, "non-temporal"}},
                 "Choose ordinary or non-temporal stores, which bypass the caches. With ordinary stores bus_bytes "
                 "counts each line of a once more, since it is read before it is written."),
          bytes("working_set_bytes", &P::working_set_bytes, {stream_line, 1e15},
                "Use this many bytes for all arrays of all threads of a rank. Each array gets an equal share, in whole "
                "blocks."),
          choice("order", &P::order, {{BlockOrder::sequential, "sequential"}, {BlockOrder::random, "random"}},
                 "Choose the order in which every pass visits the blocks of an array."),
          bytes("block_bytes", &P::block_bytes, {0, 1e15},
                "Visit this many bytes at a time, a multiple of 64; 0 means the whole array."),
          bytes("vector_bytes", &P::vector_bytes, {0, 64},
                "Move this many bytes by one instruction: 16, 32 or 64; 0 means the fastest in short trials before.")},
      MemoryPlace::table());
}

Status check_stream(const StreamParameters& p, const std::string& pointer) {
  if (auto status = check_blocks(p, pointer); !status) return status;
  if (p.array_bytes() == 0) {
    const std::uint64_t unit = p.block_bytes > 0 ? p.block_bytes : stream_line;
    return fail(bad_plan(pointer + "/working_set_bytes",
                         "must be at least " +
                             std::to_string(unit * arrays_of(p.kind) * static_cast<std::uint64_t>(p.threads)) + ": " +
                             std::to_string(arrays_of(p.kind)) + " arrays of " + std::to_string(unit) +
                             " bytes for each of " + std::to_string(p.threads) + " threads"));
  }
  if (p.blocks() > most_blocks)
    return fail(bad_plan(pointer + "/block_bytes", "is too small: there would be more than 2^32 blocks"));
  if (p.stores == Stores::non_temporal && !writes(p.kind))
    return fail(bad_plan(pointer + "/stores", "must be ordinary with kernel read, which stores nothing"));
  if (p.vector_bytes != 0 && stream_candidates(p.kind, Stores::ordinary, p.vector_bytes).empty())
    return fail(bad_plan(pointer + "/vector_bytes", "must be 0 or one of " + widths() + ", which this CPU has"));
  if (stream_candidates(p.kind, p.stores, p.vector_bytes).empty())
    return fail(bad_plan(pointer + "/stores", "must be ordinary: the engine has no non-temporal stores for this CPU"));
  return {};
}

std::vector<std::uint32_t> block_order(std::uint64_t count, std::uint64_t seed) {
  const Permutation permutation(count, seed);
  std::vector<std::uint32_t> order(count);
  for (std::uint64_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(permutation(i));
  return order;
}

}  // namespace ullage
