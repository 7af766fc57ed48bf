// SPDX-License-Identifier: Apache-2.0
// Workload `collective`: how long a collective operation of MPI takes, and how much of it hides behind computation.

#include "base/clock.hpp"
#include "base/std.hpp"
#include "message/call_windows.hpp"
#include "message/collective_content.hpp"
#include "message/message_memory.hpp"
#include "mpi/collectives.hpp"
#include "noise/fixed_chain.hpp"
#include "work/entry.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

enum class CollectiveMode { blocking, overlap };
enum class CollectiveRoot { rotating, first };

using mpi::Collective;

/// A function: the table is made while other static objects are.
Words<Collective> operation_words() {
  return {{Collective::barrier, "barrier"},
          {Collective::bcast, "bcast"},
          {Collective::reduce, "reduce"},
          {Collective::allreduce, "allreduce"},
          {Collective::gather, "gather"},
          {Collective::scatter, "scatter"},
          {Collective::allgather, "allgather"},
          {Collective::allgatherv, "allgatherv"},
          {Collective::alltoall, "alltoall"},
          {Collective::alltoallv, "alltoallv"},
          {Collective::reduce_scatter, "reduce_scatter"}};
}

constexpr std::uint64_t most_message_bytes = std::uint64_t{1} << 40;

struct CollectiveParameters : CallWindowParameters {
  mpi::Collective operation = mpi::Collective::allreduce;
  std::uint64_t message_bytes = 8;
  mpi::Element element = mpi::Element::fp32;
  CollectiveMode mode = CollectiveMode::blocking;
  std::uint64_t tests = 0;
  CollectiveRoot root = CollectiveRoot::rotating;

  [[nodiscard]] static Table<CollectiveParameters> table() {
    using P = CollectiveParameters;
    return joined<P>(
        Table<P>{
            choice<P>("operation", &P::operation, operation_words(), "Choose the operation that all ranks call."),
            bytes(
                "message_bytes", &P::message_bytes, {0, static_cast<double>(most_message_bytes)},
                "Set the bytes of the vector in bcast and reductions (for reduce_scatter, before it cuts the vector). "
                "For other operations, set the bytes from one rank to one other; 0 for a barrier."),
            choice<P>("element", &P::element, {{mpi::Element::fp32, "fp32"}, {mpi::Element::fp64, "fp64"}},
                      "Choose the type of the elements that reductions add."),
            choice<P>(
                "mode", &P::mode, {{CollectiveMode::blocking, "blocking"}, {CollectiveMode::overlap, "overlap"}},
                "Choose blocking, or overlap, which runs the nonblocking form alone and together with computation "
                "of the same length."),
            count("tests", &P::tests, {0, 10'000},
                  "In mode overlap, call MPI_Test this many times during the computation of each call."),
            choice<P>("root", &P::root, {{CollectiveRoot::rotating, "rotating"}, {CollectiveRoot::first, "first"}},
                      "Choose the root. With rotating, each call takes the next rank as its root, so that no rank can "
                      "run ahead of the others."),
        },
        CallWindowParameters::table());
  }

  [[nodiscard]] mpi::CollectiveShape shape() const { return {operation, message_bytes, element}; }
};

constexpr int fewest_ranks = 2;

/// Checks whether this MPI can be told how much each call moves.
Status check_counts(const CollectiveParameters& p, int ranks, const std::string& pointer) {
  const std::uint64_t largest = mpi::largest_count(p.shape(), ranks);
  if (largest <= mpi::most_int_count || mpi::has_large_counts()) return {};
  const std::string most = std::to_string(mpi::most_int_count);
  const std::string limit = mpi::reduces(p.operation) ? "must have at most " + most + " elements"
                            : largest == p.message_bytes
                                ? "must be at most " + most
                                : "must be at most " + most + " when multiplied by the number of ranks";
  return fail(bad_plan(pointer + "/message_bytes", limit + ": this MPI has no large counts; use one of version 4"));
}

/// Checks what spans parameters and layout.
Status check_collective(const CollectiveParameters& p, int ranks, const std::string& pointer) {
  if (ranks < fewest_ranks)
    return fail(bad_plan(pointer + "/operation", "a collective operation needs 2 ranks or more; the layout has 1"));
  if (p.operation == Collective::barrier && p.message_bytes > 0)
    return fail(bad_plan(pointer + "/message_bytes", "must be 0 for a barrier, which moves nothing"));
  const std::size_t element = mpi::bytes_of(p.element);
  if (mpi::reduces(p.operation) && (p.message_bytes % element != 0 || p.message_bytes == 0))
    return fail(bad_plan(pointer + "/message_bytes", "for a reduction it must be a multiple of the element's " +
                                                         std::to_string(element) + " bytes"));
  if (p.tests > 0 && p.mode == CollectiveMode::blocking)
    return fail(bad_plan(pointer + "/tests", "needs mode overlap: a blocking call cannot be tested"));
  return check_counts(p, ranks, pointer);
}

/// Returns what one call moves over a rank's link at least, as nccl-tests count it for their "bus bandwidth".
double link_bytes(const CollectiveParameters& p, int ranks) {
  const auto bytes = static_cast<double>(p.message_bytes);
  const double others = ranks - 1;
  switch (p.operation) {
    case Collective::barrier:
      return 0;
    case Collective::bcast:
    case Collective::reduce:
      return bytes;
    case Collective::allreduce:
      return 2 * bytes * others / ranks;
    case Collective::reduce_scatter:
      return bytes * others / ranks;
    default:
      return bytes * others;
  }
}

/// A window is one operation of the meter: a barrier, then the calls. With mode overlap it has three stretches of as
/// many calls, each after a barrier: the nonblocking operation alone, computation of the same length alone, and the
/// operation with the computation inside, which is cut by `tests` calls of MPI_Test. Gauges: calls (of all windows, of
/// each stretch), link_bytes (of all calls, on the link of one rank), call_s (this rank's time of the operation alone),
/// shortest_window_s; with overlap also compute_s and overall_s.
class CollectivePhase final : public PhaseWork {
 public:
  CollectivePhase(const CollectiveParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters),
        comm_(context.world->all()),
        ranks_(context.world->size()),
        content_(parameters.shape(), context.world->rank(), ranks_, context.run_key),
        shortest_ns_(std::numeric_limits<std::int64_t>::max()) {
    const mpi::CollectiveRoom room = mpi::room_of(parameters_.shape(), ranks_);
    find_room_on_node(*context.world, room.out + room.in);
  }

  [[nodiscard]] PhaseInfo info() const override { return {.name = "collective", .collective = true}; }
  [[nodiscard]] Status allocate() override {
    const mpi::CollectiveRoom room = mpi::room_of(parameters_.shape(), ranks_);
    out_.resize(room.out);
    in_.resize(room.in);
    call_.emplace(comm_, parameters_.shape(), out_, in_);
    return {};
  }

  [[nodiscard]] Status before() override {
    content_.fill(out_);
    CollectiveContent::poison(in_);
    if (parameters_.mode == CollectiveMode::blocking) {
      calls_ = calls_of_a_window(comm_, parameters_, [this](std::uint64_t calls) { return blocking_calls(calls); });
    } else {
      calls_ = calls_of_a_window(comm_, parameters_, [this](std::uint64_t calls) { return pure_calls(calls); });
      size_computation();
    }
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }
  /// Clears the buffers, so that what is found afterwards was left by a call that was timed.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t most) override {
    CollectiveContent::poison(in_);
    return prepared_ = most;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    const std::uint64_t bytes = calls_ * parameters_.message_bytes;
    for (std::uint64_t i = 0; i < prepared_; ++i) {
      if (parameters_.mode == CollectiveMode::overlap) overlap_window();
      comm_.barrier();
      meter.resume(now_ns());
      const std::int64_t took_ns =
          parameters_.mode == CollectiveMode::blocking ? blocking_calls(calls_) : pure_calls(calls_);
      call_ns_ += took_ns;
      shortest_ns_ = std::min(shortest_ns_, took_ns);
      made_ += calls_;
      (void)meter.completed(bytes);  // no rank stops alone
    }
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    Verification found = Verification::of(content_.check(in_, root_));
    found.verified_bytes = content_.expected_bytes(root_);
    return found;
  }

  [[nodiscard]] Gauges gauges() const override {
    Gauges gauges{{"calls", static_cast<double>(made_)},
                  {"link_bytes", static_cast<double>(made_) * link_bytes(parameters_, ranks_)},
                  {"call_s", static_cast<double>(call_ns_) * 1e-9},
                  {"shortest_window_s", made_ > 0 ? static_cast<double>(shortest_ns_) * 1e-9 : 0}};
    if (parameters_.mode == CollectiveMode::overlap) {
      gauges["compute_s"] = static_cast<double>(compute_ns_) * 1e-9;
      gauges["overall_s"] = static_cast<double>(overall_ns_) * 1e-9;
    }
    return gauges;
  }

 private:
  [[nodiscard]] int next_root() {
    root_ = turn_;
    if (parameters_.root == CollectiveRoot::rotating) turn_ = turn_ + 1 == ranks_ ? 0 : turn_ + 1;
    return root_;
  }

  [[nodiscard]] std::int64_t blocking_calls(std::uint64_t calls) {
    const std::int64_t start = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) call_->run(next_root());
    return now_ns() - start;
  }

  [[nodiscard]] std::int64_t pure_calls(std::uint64_t calls) {
    const std::int64_t start = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) {
      call_->start(next_root());
      call_->wait();
    }
    return now_ns() - start;
  }

  [[nodiscard]] std::int64_t computation(std::uint64_t calls) const {
    const std::int64_t start = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) computation_.run();
    return now_ns() - start;
  }

  [[nodiscard]] std::int64_t overlapped_calls(std::uint64_t calls) {
    const std::int64_t start = now_ns();
    for (std::uint64_t i = 0; i < calls; ++i) {
      call_->start(next_root());
      computation_.run([this] { (void)call_->test(); });
      call_->wait();
    }
    return now_ns() - start;
  }

  /// Makes a computation as long as a call on the slowest rank, by the shortest of a few windows: one that was
  /// interrupted looks long.
  void size_computation() {
    constexpr int tries = 3;
    std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
    for (int i = 0; i < tries; ++i) {
      comm_.barrier();
      shortest_ns = std::min(shortest_ns, comm_.max(pure_calls(calls_)));
    }
    const double call_ns = static_cast<double>(shortest_ns) / static_cast<double>(calls_);
    computation_ = ChainPieces(blocks_that_last(call_ns), parameters_.tests + 1);
  }

  /// The two stretches of a window that are not the operation alone.
  void overlap_window() {
    comm_.barrier();
    compute_ns_ += computation(calls_);
    comm_.barrier();
    overall_ns_ += overlapped_calls(calls_);
  }

  CollectiveParameters parameters_;
  const mpi::Comm& comm_;
  int ranks_;
  CollectiveContent content_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::optional<mpi::CollectiveCall> call_;  // from before() on
  std::uint64_t calls_ = 1;
  int root_ = 0;             // of the last call
  int turn_ = 0;             // root of the next one
  ChainPieces computation_;  // beside one call
  std::uint64_t made_ = 0;
  std::int64_t call_ns_ = 0;
  std::int64_t shortest_ns_ = 0;
  std::int64_t compute_ns_ = 0;
  std::int64_t overall_ns_ = 0;
};

const Registered<WorkloadEntry> registered_collective{without_storage<CollectiveParameters>({
    .name = "collective",
    .doc = "All ranks call one collective operation of MPI repeatedly. The nonblocking form also runs together with "
           "computation.",
    .check = check_collective,
    .make = single_phase<CollectivePhase>,
})};

}  // namespace
}  // namespace ullage
