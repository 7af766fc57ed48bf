// SPDX-License-Identifier: Apache-2.0
// Workload `stream`: how fast memory at each distance is read and written.
#include "memory/stream/stream.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t small_array = std::uint64_t{32}
                                      << 10U;  // and below: together they may just fill a first-level cache
constexpr std::uint64_t large_array = std::uint64_t{1} << 20U;
constexpr std::uint64_t lines_between = 17;         // odd: no two sizes of caches or banks divide it
constexpr std::uint64_t lines_between_large = 529;  // beyond a row of memory, too
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

std::uint64_t StreamParameters::array_stride() const {
  if (array_bytes() < small_array) return array_bytes();
  return array_bytes() + stream_line * (array_bytes() < large_array ? lines_between : lines_between_large);
}

std::uint64_t StreamParameters::array_bytes() const {
  const std::uint64_t unit = block_bytes > 0 ? block_bytes : stream_line;
  return working_set_bytes / (static_cast<std::uint64_t>(threads) * arrays_of(kind)) / unit * unit;
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

namespace {

constexpr std::size_t stream_element = sizeof(double);

double* elements(std::byte* bytes) { return reinterpret_cast<double*>(bytes); }

Error wrong(std::size_t thread, const std::string& what, std::string expected, std::string found) {
  const std::string text = what + " is " + found + ", should be " + expected;
  return verification_error("check", "memory of thread " + std::to_string(thread), text, std::move(expected),
                            std::move(found));
}

}  // namespace

std::vector<std::uint32_t> block_order(std::uint64_t count, std::uint64_t seed) {
  const Permutation permutation(count, seed);
  std::vector<std::uint32_t> order(count);
  for (std::uint64_t i = 0; i < count; ++i) order[i] = static_cast<std::uint32_t>(permutation(i));
  return order;
}

StreamKernel::StreamKernel(const StreamParameters& parameters, std::uint64_t seed, int ranks_on_node, Status ready)
    : parameters_(parameters),
      seed_(seed),
      ready_(std::move(ready)),
      shares_(static_cast<std::size_t>(parameters.threads)) {
  const auto ranks = static_cast<std::uint64_t>(ranks_on_node);
  if (ready_) ready_ = check_room("working_set_bytes", Count(parameters.working_set_bytes) * ranks);
}

Status StreamKernel::make_ready(std::size_t thread) {
  if (!ready_) return ready_;
  auto region =
      Region::map(parameters_.array_stride() * arrays_of(parameters_.kind), parameters_.pages, parameters_.memory_node);
  if (!region) return fail(region.error());
  Share& share = shares_[thread];
  share.region = std::move(*region);
  if (auto touched = share.region->touch(share.region->bytes()); !touched) return touched;
  lay_out(share);
  const auto candidates = stream_candidates(parameters_.kind, parameters_.stores, parameters_.vector_bytes);
  share.loops = &fastest_of(candidates, parameters_.kind, parameters_.stores, share.job);
  share.loop = share.loops->loop(parameters_.kind, parameters_.stores);
  if (parameters_.order == BlockOrder::random) {
    share.order = block_order(parameters_.blocks(), mix64(seed_ + thread));
    share.job.order = share.order.data();
  }
  fill(share);
  return {};
}

/// Arrays that a kind does not have are never looked at.
void StreamKernel::lay_out(Share& share) const {
  const std::size_t arrays = arrays_of(parameters_.kind);
  const std::uint64_t stride = parameters_.array_stride();
  std::byte* const memory = share.region->bytes().data();
  share.job = {.a = memory,
               .b = arrays == 1 ? memory : memory + stride,
               .c = memory + (arrays - 1) * stride,
               .block_bytes = parameters_.block(),
               .blocks = parameters_.blocks()};
}

void StreamKernel::run(std::size_t thread, std::uint64_t passes) {
  Share& share = shares_[thread];
  share.job.passes = passes;
  share.sum += share.loop(share.job);
  share.job.first_pass += passes;
}

Status StreamKernel::check() {
  for (std::size_t thread = 0; thread < shares_.size(); ++thread)
    if (auto right = check_share(thread); !right) return right;
  return {};
}

std::uint64_t StreamKernel::bytes_a_pass() const { return all_arrays() * application_arrays(parameters_.kind); }

void StreamKernel::report(const WindowTotals& totals, Gauges& gauges) const {
  const double array_passes = static_cast<double>(totals.passes) * static_cast<double>(all_arrays());
  gauges["application_bytes"] = array_passes * static_cast<double>(application_arrays(parameters_.kind));
  gauges["bus_bytes"] = array_passes * static_cast<double>(bus_arrays(parameters_.kind, parameters_.stores));
  gauges["used_bytes"] = static_cast<double>(all_arrays() * arrays_of(parameters_.kind));
  std::uint64_t huge = 0;
  for (const Share& share : shares_)
    if (share.region) huge += share.region->huge_bytes();
  gauges["huge_bytes"] = static_cast<double>(huge);
  gauges["vector_bytes"] = shares_[0].loops != nullptr ? static_cast<double>(shares_[0].loops->vector_bytes) : 0;
}

/// Bytes of an array, that of all threads together.
std::uint64_t StreamKernel::all_arrays() const { return parameters_.array_bytes() * shares_.size(); }

void StreamKernel::fill(Share& share) const {
  const std::uint64_t count = parameters_.array_bytes() / stream_element;
  double* const first = elements(share.region->bytes().data());
  switch (arrays_of(parameters_.kind)) {
    case 3: {
      double* const c = first + 2 * parameters_.array_stride() / stream_element;
      for (std::uint64_t i = 0; i < count; ++i) c[i] = stream_value(2, i);
      [[fallthrough]];
    }
    case 2: {
      double* const b = first + parameters_.array_stride() / stream_element;
      for (std::uint64_t i = 0; i < count; ++i) b[i] = stream_value(1, i);
      break;
    }
    default:
      for (std::uint64_t i = 0; i < count; ++i) {
        first[i] = stream_value(0, i);
        share.sum_a_pass += std::bit_cast<std::uint64_t>(stream_value(0, i));
      }
  }
}

Status StreamKernel::check_share(std::size_t thread) const {
  const Share& share = shares_[thread];
  const std::uint64_t passes = share.job.first_pass;
  if (parameters_.kind == StreamKind::read) {
    const std::uint64_t right = share.sum_a_pass * passes;
    if (share.sum == right) return {};
    return fail(wrong(thread, "the sum of what was read", std::to_string(right), std::to_string(share.sum)));
  }
  const double* const a = elements(share.job.a);
  for (std::uint64_t i = 0; i < parameters_.array_bytes() / stream_element; ++i) {
    const double right = stream_result(parameters_.kind, i, passes);
    if (std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(right))
      return fail(wrong(thread, "element " + std::to_string(i), std::to_string(right), std::to_string(a[i])));
  }
  return {};
}

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
