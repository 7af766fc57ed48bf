// SPDX-License-Identifier: Apache-2.0
// Workload `loaded-latency`: how long one access waits while others load the memory.
#include "memory/loaded_latency/loaded_latency.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/clock.hpp"
#include "base/permutation.hpp"
#include "base/resources.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

/// Moved in one go without a pause: often enough to look whether the chase has ended, seldom enough not to cost.
constexpr std::uint64_t most_lines_a_turn = 512;
constexpr std::uint64_t word_read = 0x9e3779b97f4a7c15ULL;
constexpr int looks_before_yielding = 1 << 16;

/// The longer the pause, the fewer lines: a piece lasts about as long.
std::uint64_t lines_a_turn(const LoadedLatencyParameters& p) {
  return std::max<std::uint64_t>(1, most_lines_a_turn / (1 + p.delay));
}

Error injected_wrong(std::string text) { return verification_error("check", "memory of an injector", std::move(text)); }

}  // namespace

Table<LoadedLatencyParameters> LoadedLatencyParameters::table() {
  using P = LoadedLatencyParameters;
  return joined<P>(timing(), Table<P>{count("injectors", &P::injectors, {0, 4095},
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
                                      choice("pages", &P::pages, pages_words(),
                                             "Choose the pages of the memory, as for workload stream.")});
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

Result<Injector> Injector::make(const LoadedLatencyParameters& parameters) {
  auto memory = Region::map(parameters.working_set_bytes, parameters.pages);
  if (!memory) return fail(memory.error());
  if (const Status touched = memory->touch(memory->bytes()); !touched) return fail(touched.error());
  return Injector(std::move(*memory), parameters);
}

Injector::Injector(Region memory, const LoadedLatencyParameters& p)
    : memory_(std::move(memory)),
      piece_bytes_(lines_a_turn(p) * stream_line),
      pieces_(p.working_set_bytes / piece_bytes_),
      writes_(p.injection != Injection::read) {
  piece_.a = memory_.bytes().data();
  piece_.b = piece_.a;
  piece_.c = piece_.a;
  piece_.block_bytes = pieces_ * piece_bytes_;
  piece_.blocks = 1;
  loop_ =
      fastest_of(stream_candidates(p.kind(), p.stores(), 0), p.kind(), p.stores(), piece_).loop(p.kind(), p.stores());
  piece_.block_bytes = p.delay == 0 ? piece_bytes_ : stream_line;
  piece_.blocks = piece_bytes_ / piece_.block_bytes;
  piece_.passes = 1;
  piece_.pause = p.delay;
  std::ranges::fill(memory_.bytes(), std::byte{0});  // the trials have written
  if (!writes_)
    std::ranges::fill(
        std::span(reinterpret_cast<std::uint64_t*>(memory_.bytes().data()), memory_.bytes().size() / sizeof word_read),
        word_read);
}

std::uint64_t Injector::inject() {
  piece_.a = memory_.bytes().data() + injected_ % pieces_ * piece_bytes_;
  piece_.b = piece_.a;
  piece_.c = piece_.a;
  sum_ += loop_(piece_);
  ++injected_;
  return piece_bytes_;
}

Status Injector::check() const {
  if (writes_) return check_written();
  const std::uint64_t right = word_read * (injected_ * piece_bytes_ / sizeof word_read);
  if (sum_ == right) return {};
  return fail(
      injected_wrong("the sum of what was read is " + std::to_string(sum_) + ", should be " + std::to_string(right)));
}

Status Injector::check_written() const {
  const auto* const elements = reinterpret_cast<const double*>(memory_.bytes().data());
  const std::uint64_t written = std::min(injected_, pieces_) * piece_bytes_ / sizeof(double);
  for (std::uint64_t i = 0; i < pieces_ * piece_bytes_ / sizeof(double); ++i) {
    const double right = i < written ? stream_factor(0) : 0;
    if (elements[i] != right)
      return fail(injected_wrong("element " + std::to_string(i) + " is " + std::to_string(elements[i]) +
                                 ", should be " + std::to_string(right)));
  }
  return {};
}

LoadedLatencyKernel::LoadedLatencyKernel(const LoadedLatencyParameters& parameters, std::uint64_t seed,
                                         int ranks_on_node)
    : parameters_(parameters), seed_(seed), shares_(static_cast<std::size_t>(parameters.injectors)) {
  const Count injectors_bytes = Count(parameters.working_set_bytes) * shares_.size();
  ready_ = check_room("working_set_bytes", (injectors_bytes + parameters.shape().needed_bytes()) *
                                               static_cast<std::uint64_t>(ranks_on_node));
}

Status LoadedLatencyKernel::make_ready(std::size_t thread) {
  if (!ready_) return ready_;
  if (thread > 0) {
    auto injector = Injector::make(parameters_);
    if (!injector) return fail(injector.error());
    shares_[thread - 1].injector.emplace(std::move(*injector));
    return {};
  }
  auto cycle = ChaseCycle::make(parameters_.shape(), parameters_.pages, -1, mix64(seed_));
  if (!cycle) return fail(cycle.error());
  chaser_.emplace(std::move(*cycle), 1);
  return {};
}

void LoadedLatencyKernel::run(std::size_t thread, std::uint64_t passes) {
  if (thread == 0)
    chase(passes * ChaseKernel::steps_a_pass);
  else
    inject(shares_[thread - 1]);
}

void LoadedLatencyKernel::timing_begins() {
  chase_ns_ = 0;
  injected_meanwhile_ = 0;
}

/// Begins when all injectors are at work, and counts what they do until it ends.
void LoadedLatencyKernel::chase(std::uint64_t steps) {
  ++turns_;
  for (int looks = 0; at_work_.load(std::memory_order_acquire) < turns_ * shares_.size(); ++looks)
    if (looks >= looks_before_yielding) std::this_thread::yield();
  const std::uint64_t injected_before = injected_bytes();
  const std::int64_t begun = now_ns();
  chaser_->follow(steps);
  chase_ns_ += now_ns() - begun;
  injected_meanwhile_ += injected_bytes() - injected_before;
  ended_.store(turns_, std::memory_order_release);
}

void LoadedLatencyKernel::inject(Share& share) {
  ++share.turns;
  bool has_begun = false;
  while (ended_.load(std::memory_order_acquire) < share.turns) {
    const std::uint64_t moved = share.injector->inject();
    share.injected_bytes.store(share.injected_bytes.load(std::memory_order_relaxed) + moved, std::memory_order_relaxed);
    if (!has_begun) ++at_work_;
    has_begun = true;
  }
}

std::uint64_t LoadedLatencyKernel::injected_bytes() const {
  std::uint64_t bytes = 0;
  for (const Share& share : shares_) bytes += share.injected_bytes.load(std::memory_order_relaxed);
  return bytes;
}

Status LoadedLatencyKernel::check() {
  for (const Share& share : shares_)
    if (auto right = share.injector->check(); !right) return right;
  return chaser_->check();
}

void LoadedLatencyKernel::report(const WindowTotals& totals, Gauges& gauges) const {
  const auto injected = static_cast<double>(injected_meanwhile_);
  gauges["accesses"] = static_cast<double>(totals.passes * ChaseKernel::steps_a_pass);
  gauges["chase_s"] = static_cast<double>(chase_ns_) * 1e-9;
  gauges["injected_bytes"] = injected;
  gauges["injected_bus_bytes"] = injected * static_cast<double>(bus_arrays(parameters_.kind(), parameters_.stores()));
  std::uint64_t huge = chaser_ ? chaser_->cycle().huge_bytes() : 0;
  for (const Share& share : shares_) huge += share.injector ? share.injector->huge_bytes() : 0;
  gauges["huge_bytes"] = static_cast<double>(huge);
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
