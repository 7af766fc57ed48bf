// SPDX-License-Identifier: Apache-2.0
// Workload `one-sided`: put, get and accumulate of MPI, by latency or bandwidth.
#include "message/one_sided/one_sided.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "mpi/agreement.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::size_t number_bytes = sizeof(std::int64_t);
constexpr std::uint64_t most_memory = std::uint64_t{64} << 20;
constexpr int fewest_for_a_pair = 2;

/// Operations that are under way together have places of their own, as far as this memory goes.
std::uint64_t slots_of(const OneSidedParameters& p) {
  return std::clamp<std::uint64_t>(most_memory / std::max<std::uint64_t>(p.message_bytes, 1), 1, p.outstanding);
}

std::int64_t summand(int origin, std::size_t index) { return origin + 1 + static_cast<std::int64_t>(index % 5); }

/// Whether this rank could map so much. Nothing of it is committed: every rank of the node asks at the same time.
bool has_room(std::uint64_t bytes) {
  if (!is_memory_available(bytes)) return false;
  void* const room = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return room != MAP_FAILED && munmap(room, bytes) == 0;
}

Status check_one_sided(const OneSidedParameters& p, int ranks, const std::string& pointer) {
  if (ranks < fewest_for_a_pair)
    return fail(bad_plan(pointer + "/pairs", "a one-sided operation needs 2 ranks or more; the layout has 1"));
  if (p.operation == OneSidedOperation::accumulate && p.message_bytes % number_bytes != 0)
    return fail(
        bad_plan(pointer + "/message_bytes", "must be a multiple of 8 for accumulate, which adds 64-bit numbers"));
  return {};
}

/// A window of the meter is a barrier and then calls: each `outstanding` operations and what ends them. Targets wait in
/// the next barrier, which lets MPI work for them; with fence all ranks call that equally often. Gauges, the same on
/// all ranks: calls, operations (of one origin, all windows), origins, elapsed_s (mean over the origins),
/// least_elapsed_s, most_elapsed_s.
class OneSidedPhase final : public PhaseWork {
 public:
  OneSidedPhase(const OneSidedParameters& parameters, const WorkloadContext& context)
      : parameters_(parameters),
        world_(*context.world),
        comm_(context.world->all()),
        rank_(context.world->rank()),
        role_(one_sided_role(parameters.pairs, rank_, context.world->size())),
        key_(context.run_key),
        slots_(slots_of(parameters)) {}

  [[nodiscard]] PhaseInfo info() const override { return {.name = "one-sided", .collective = true}; }
  [[nodiscard]] Status allocate() override {
    if (is_origin()) local_.resize(slots_ * parameters_.message_bytes);
    return {};
  }

  [[nodiscard]] Status before() override {
    if (Status made = make_window(); !made) return made;
    const bool is_get = parameters_.operation == OneSidedOperation::get;
    if (is_origin() && !is_get) fill(local_, rank_);
    fill_own();
    comm_.barrier();
    calls_ = calls_of_a_window(comm_, parameters_, [this](std::uint64_t calls) { return timed_calls(calls); });
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(parameters_.windows); }
  /// Clears the buffers, so that what is got comes from timed calls.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t most) override {
    if (parameters_.operation == OneSidedOperation::get) std::ranges::fill(local_, std::byte{});
    return prepared_ = most;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    for (std::uint64_t i = 0; i < prepared_; ++i) {
      comm_.barrier();
      meter.resume(now_ns());
      elapsed_ns_ += timed_calls(calls_);
      timed_calls_ += calls_;
      const std::uint64_t operations = is_origin() ? calls_ * parameters_.outstanding : 0;
      (void)meter.completed(operations * parameters_.message_bytes);  // no rank stops alone
    }
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter&) override {
    if (parameters_.sync == OneSidedSync::fence) window_->fence_last();
    comm_.barrier();
    reduce_times();
    Verification found;
    if (!is_right()) {
      found.bad_blocks = 1;
      found.first = verification_error("verify", "rank " + std::to_string(rank_), "the operations left wrong data");
    }
    found.verified_bytes = is_origin() || is_target() ? slots_ * parameters_.message_bytes : 0;
    return found;
  }

  [[nodiscard]] Gauges gauges() const override {
    const auto calls = static_cast<double>(timed_calls_);
    return {{"calls", calls},
            {"operations", calls * static_cast<double>(parameters_.outstanding)},
            {"origins", static_cast<double>(origins_)},
            {"elapsed_s", mean_s_},
            {"least_elapsed_s", least_s_},
            {"most_elapsed_s", most_s_}};
  }

 private:
  [[nodiscard]] bool is_origin() const { return role_.target != OneSidedRole::nobody; }
  [[nodiscard]] bool is_target() const { return role_.origin != OneSidedRole::nobody; }
  /// What a library that has no room does differs: none is asked before every rank has seen that it can map as much.
  [[nodiscard]] Status make_window() {
    const std::size_t own_bytes = is_target() ? slots_ * parameters_.message_bytes : 0;
    const std::uint64_t node_bytes = world_.node().sum(own_bytes);
    const Status fits = mpi::agreed_allocation(comm_, [&] -> Status {
      return node_bytes == 0 || has_room(node_bytes) ? Status{} : fail(errno_error(ENOMEM, "get", "memory"));
    });
    if (!fits) return fits;
    auto window = mpi::Window::make(comm_, own_bytes);
    if (!window) return fail(window.error());
    window_.emplace(std::move(*window));
    return {};
  }

  [[nodiscard]] std::span<std::byte> slot(std::uint64_t operation) {
    return std::span(local_).subspan(operation % slots_ * parameters_.message_bytes, parameters_.message_bytes);
  }

  /// Returns what an origin gives, or a target holds ready for its origin: a number to add, or a word of theirs alone.
  [[nodiscard]] std::uint64_t word_at(std::size_t place, int origin) const {
    const std::size_t index = place / number_bytes;
    if (parameters_.operation == OneSidedOperation::accumulate)
      return static_cast<std::uint64_t>(summand(origin, index));
    return mix64(mix64(key_ ^ static_cast<std::uint64_t>(origin)) + index);
  }

  void fill(std::span<std::byte> bytes, int origin) const {
    for (std::size_t place = 0; place < bytes.size(); place += number_bytes) {
      const std::uint64_t word = word_at(place, origin);
      std::memcpy(bytes.data() + place, &word, std::min(number_bytes, bytes.size() - place));
    }
  }

  /// Zeros under put and accumulate, data under get.
  void fill_own() {
    if (!is_target()) return;
    window_->lock(rank_);
    if (parameters_.operation == OneSidedOperation::get)
      fill(window_->own(), role_.origin);
    else
      std::ranges::fill(window_->own(), std::byte{});
    window_->unlock(rank_);
  }

  void begin(std::uint64_t operation) {
    const std::span<std::byte> data = slot(operation);
    const auto place = static_cast<std::size_t>(data.data() - local_.data());
    switch (parameters_.operation) {
      case OneSidedOperation::put:
        return window_->put(data, role_.target, place);
      case OneSidedOperation::get:
        return window_->get(data, role_.target, place);
      case OneSidedOperation::accumulate:
        return window_->accumulate({reinterpret_cast<const std::int64_t*>(data.data()), data.size() / number_bytes},
                                   role_.target, place);
    }
  }

  void fenced_calls(std::uint64_t calls) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      for (std::uint64_t operation = 0; is_origin() && operation < parameters_.outstanding; ++operation)
        begin(operation);
      window_->fence();
    }
  }

  void locked_calls(std::uint64_t calls) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      window_->lock(role_.target);
      for (std::uint64_t operation = 0; operation < parameters_.outstanding; ++operation) begin(operation);
      window_->unlock(role_.target);
    }
  }

  void flushed_calls(std::uint64_t calls) {
    for (std::uint64_t i = 0; i < calls; ++i) {
      for (std::uint64_t operation = 0; operation < parameters_.outstanding; ++operation) begin(operation);
      window_->flush(role_.target);
    }
  }

  /// The time of the calls alone: what opens the first epoch and closes the last is no part of them.
  [[nodiscard]] std::int64_t timed_calls(std::uint64_t calls) {
    const bool fences = parameters_.sync == OneSidedSync::fence;
    const bool holds_all = parameters_.sync == OneSidedSync::flush && is_origin();
    all_calls_ += calls;
    if (fences) window_->fence();
    if (holds_all) window_->lock_all();
    const std::int64_t start = now_ns();
    if (fences)
      fenced_calls(calls);
    else if (holds_all)
      flushed_calls(calls);
    else if (is_origin())
      locked_calls(calls);
    const std::int64_t took_ns = now_ns() - start;
    if (holds_all) window_->unlock_all();
    return took_ns;
  }

  void reduce_times() {
    constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::max();
    std::array<std::uint64_t, 2> sums{is_origin() ? static_cast<std::uint64_t>(elapsed_ns_) : 0, is_origin() ? 1U : 0U};
    comm_.sum_all(std::span(sums));
    origins_ = static_cast<int>(sums[1]);
    mean_s_ = static_cast<double>(sums[0]) * 1e-9 / static_cast<double>(sums[1]);
    least_s_ = static_cast<double>(comm_.min(is_origin() ? elapsed_ns_ : nothing)) * 1e-9;
    most_s_ = static_cast<double>(comm_.max(is_origin() ? elapsed_ns_ : 0)) * 1e-9;
  }

  /// How often something was added in a place.
  [[nodiscard]] std::uint64_t additions_at(std::size_t place) const {
    const std::uint64_t slot = place / parameters_.message_bytes;
    const std::uint64_t rest = parameters_.outstanding % slots_;
    return all_calls_ * (parameters_.outstanding / slots_ + (slot < rest ? 1 : 0));
  }

  [[nodiscard]] bool holds(std::span<const std::byte> found, int origin) const {
    const bool adds = parameters_.operation == OneSidedOperation::accumulate;
    for (std::size_t place = 0; place < found.size(); place += number_bytes) {
      const std::uint64_t word = word_at(place, origin) * (adds ? additions_at(place) : 1);
      if (std::memcmp(found.data() + place, &word, std::min(number_bytes, found.size() - place)) != 0) return false;
    }
    return true;
  }

  /// Targets look at what was put or added, origins at what they got.
  [[nodiscard]] bool is_right() {
    if (parameters_.operation == OneSidedOperation::get) return !is_origin() || holds(local_, rank_);
    if (!is_target()) return true;
    window_->lock(rank_);
    const bool same = holds(window_->own(), role_.origin);
    window_->unlock(rank_);
    return same;
  }

  OneSidedParameters parameters_;
  const mpi::World& world_;
  const mpi::Comm& comm_;
  int rank_;
  OneSidedRole role_;
  std::uint64_t key_;
  std::uint64_t slots_;
  std::vector<std::byte> local_;
  std::optional<mpi::Window> window_;  // from before() on
  std::uint64_t calls_ = 1;
  std::uint64_t all_calls_ = 0;  // since the memory was filled, the warm-up's too
  std::uint64_t timed_calls_ = 0;
  std::int64_t elapsed_ns_ = 0;
  int origins_ = 1;
  double mean_s_ = 0;
  double least_s_ = 0;
  double most_s_ = 0;
};

const Registered<WorkloadEntry> registered_one_sided{without_storage<OneSidedParameters>({
    .name = "one-sided",
    .doc = "Ranks put to, get from or add to the memory of other ranks by MPI's one-sided operations.",
    .check = check_one_sided,
    .make = single_phase<OneSidedPhase>,
})};

}  // namespace

Table<OneSidedParameters> OneSidedParameters::table() {
  using P = OneSidedParameters;
  using Operation = OneSidedOperation;
  return joined<P>(
      Table<P>{
          choice<P>("operation", &P::operation,
                    {{Operation::put, "put"}, {Operation::get, "get"}, {Operation::accumulate, "accumulate"}},
                    "Choose the operation. Operation accumulate adds 64-bit integers."),
          choice<P>(
              "sync", &P::sync,
              {{OneSidedSync::lock, "lock"}, {OneSidedSync::flush, "flush"}, {OneSidedSync::fence, "fence"}},
              "Choose the synchronisation. With lock, a shared lock and its unlock surround each call; with flush, a "
              "flush follows each call within one lock_all. With fence, a fence of all ranks follows each call."),
          choice<P>(
              "pairs", &P::pairs, {{OneSidedPairs::one, "one"}, {OneSidedPairs::all, "all"}},
              "Choose the pairs. With one, rank 0 accesses the last rank while the others wait. With all, each rank of "
              "the first half accesses one of the second half."),
          bytes("message_bytes", &P::message_bytes, {1, 1 << 30},
                "Set the bytes of one operation. For accumulate, use a multiple of 8."),
          count("outstanding", &P::outstanding, {1, 4096},
                "Keep this many operations of a call in flight at once: 1 to measure a latency, more to measure a "
                "bandwidth."),
      },
      CallWindowParameters::table());
}

OneSidedRole one_sided_role(OneSidedPairs pairs, int rank, int ranks) {
  const int half = pairs == OneSidedPairs::one ? 1 : ranks / 2;
  const int distance = pairs == OneSidedPairs::one ? ranks - 1 : half;
  OneSidedRole role;
  if (rank < half) role.target = rank + distance;
  if (rank >= distance && rank - distance < half) role.origin = rank - distance;
  return role;
}

}  // namespace ullage
