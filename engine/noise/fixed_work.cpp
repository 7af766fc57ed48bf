// SPDX-License-Identifier: Apache-2.0
// Workload `fixed-work`: the machine's noise, by work that always takes the same number of cycles.
#include "noise/fixed_work.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "noise/fixed_chain.hpp"
#include "work/entry.hpp"
#include "work/windowed_phase.hpp"

namespace ullage {
namespace {

/// Mean of the two in the middle.
double middle(std::array<std::int64_t, pieces_a_quantum>& pieces) {
  static_assert(pieces_a_quantum % 2 == 0);
  const auto upper = pieces.begin() + pieces_a_quantum / 2;
  std::nth_element(pieces.begin(), upper, pieces.end());
  const std::int64_t lower = *std::max_element(pieces.begin(), upper);
  return static_cast<double>(lower + *upper) / 2;
}

double share(double part, double whole) { return whole > 0 ? std::max(0.0, part / whole) : 0; }

}  // namespace

void QuantumAccount::add(QuantumStamps stamps) {
  std::array<std::int64_t, pieces_a_quantum> pieces{};
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) pieces[piece] = stamps[piece + 1] - stamps[piece];
  histogram_.add(stamps.back() - stamps.front());
  undisturbed_ns_ += middle(pieces) * pieces_a_quantum;
}

void QuantumAccount::merge(const QuantumAccount& other) {
  histogram_.merge(other.histogram_);
  undisturbed_ns_ += other.undisturbed_ns_;
}

double QuantumAccount::noise_share() const { return share(total_ns() - undisturbed_ns_, total_ns()); }

double QuantumAccount::turbo_share() const {
  const double shortest = static_cast<double>(histogram_.min_ns()) * static_cast<double>(count());
  return share(total_ns() - shortest, total_ns());
}

namespace {

constexpr std::int64_t looks_a_detour = 10;
constexpr int looks = 2000;

}  // namespace

std::int64_t detour_from_ns(std::int64_t look_ns) { return std::max(usual_detour_ns, looks_a_detour * look_ns); }

std::int64_t time_of_a_look_ns() {
  std::int64_t shortest = usual_detour_ns * looks_a_detour;
  std::int64_t last = now_ns();
  for (int i = 0; i < looks; ++i) {
    const std::int64_t now = now_ns();
    shortest = std::min(shortest, now - last);
    last = now;
  }
  return shortest;
}

DetourWatch::DetourWatch(std::int64_t look_ns, std::int64_t most_ns)
    : look_ns_(look_ns), from_ns_(detour_from_ns(look_ns)) {
  // Touched here: a page's first fault would be a detour of our own making.
  detours_.assign(static_cast<std::size_t>(most_ns / from_ns_) + 1, 0);
  detours_.clear();
}

namespace {

/// The meter's parts.
constexpr std::size_t part_quantum = 0;
constexpr std::size_t part_detour = 1;
const std::vector<std::string> part_names{"quantum", "detour"};

/// A batch is counted after it, outside all quanta: so its stamps are kept, and it ends soon after a request to stop.
constexpr std::uint64_t most_a_batch = 1024;
constexpr double batch_s = 0.2;
constexpr std::int64_t watch_slice_ns = 100'000'000;
/// Before each batch: threads that have slept find their caches and clocks again.
constexpr std::uint64_t untimed_quanta = 2;

}  // namespace

Table<FixedWorkParameters> FixedWorkParameters::table() {
  using P = FixedWorkParameters;
  return {
      count("threads", &P::threads, {1, 4096}, "Run this many threads on each rank, each on its own core."),
      seconds("quantum_s", &P::quantum_s, {2e-5, 0.1}, "Size a quantum of work to last this many seconds undisturbed."),
      count("quanta", &P::quanta, {1, 10'000'000}, "Run this many quanta on each thread, one after the other."),
      seconds("watch_s", &P::watch_s, {0, 3600},
              "Watch for detours for this many seconds after the quanta; 0 means no watch."),
      seconds("warm_up_s", &P::warm_up_s, {0, 60}, "Run the same work for this many seconds before the first quantum."),
  };
}

FixedWorkPhase::FixedWorkPhase(const FixedWorkParameters& parameters, const WorkloadContext& context)
    : parameters_(parameters),
      team_(cpus_of_rank(context.world->topology(), parameters.threads)),
      look_ns_(time_of_a_look_ns()) {
  const auto fitting = static_cast<std::uint64_t>(batch_s / parameters.quantum_s);
  const std::uint64_t quanta = std::clamp<std::uint64_t>(fitting, 1, most_a_batch);
  for (std::size_t thread = 0; thread < team_.size(); ++thread)
    workers_.push_back({std::vector<std::int64_t>(quanta * pieces_a_quantum + 1),
                        {},
                        DetourWatch(look_ns_, parameters.watch_s > 0 ? watch_slice_ns : 0)});
}

PhaseInfo FixedWorkPhase::info() const { return {.name = "fixed-work", .parts = part_names}; }

Status FixedWorkPhase::before() {
  if (Status started = team_.start(); !started) return started;
  std::vector<std::uint64_t> blocks(team_.size());
  const double piece_ns = parameters_.quantum_s * 1e9 / pieces_a_quantum;
  (void)team_.run({[&](std::size_t thread) {
                     const std::int64_t until = now_ns() + static_cast<std::int64_t>(parameters_.warm_up_s * 1e9);
                     do blocks[thread] = blocks_that_last(piece_ns);
                     while (now_ns() < until);
                   },
                   {}});
  piece_blocks_ = *std::ranges::max_element(blocks);
  return team_.status();
}

std::uint64_t FixedWorkPhase::prepare(std::uint64_t first, std::uint64_t most) {
  const std::uint64_t room = (workers_.front().stamps.size() - 1) / pieces_a_quantum;
  prepared_ = std::min(most, room);
  is_last_ = first + prepared_ == parameters_.quanta;
  return prepared_;
}

Status FixedWorkPhase::execute(Meter& meter) {
  (void)team_.run({[&](std::size_t thread) { run_batch(thread, prepared_); }, {}});
  count_batch(prepared_, meter);
  if (meter.completed_many(prepared_, 0) && is_last_) watch(meter);
  return team_.status();
}

/// Pieces follow each other without a gap: what interrupts lies in one of them.
void FixedWorkPhase::run_batch(std::size_t thread, std::uint64_t quanta) {
  run_chain(untimed_quanta * pieces_a_quantum * piece_blocks_);
  std::vector<std::int64_t>& stamps = workers_[thread].stamps;
  stamps[0] = now_ns();
  for (std::uint64_t piece = 1; piece <= quanta * pieces_a_quantum; ++piece) {
    run_chain(piece_blocks_);
    stamps[piece] = now_ns();
  }
}

void FixedWorkPhase::count_batch(std::uint64_t quanta, Meter& meter) {
  std::int64_t start = std::numeric_limits<std::int64_t>::max();
  std::int64_t stop = 0;
  for (const Worker& worker : workers_) {
    start = std::min(start, worker.stamps.front());
    stop = std::max(stop, worker.stamps[quanta * pieces_a_quantum]);
  }
  elapsed_ns_ += stop - start;
  for (Worker& worker : workers_)
    for (std::uint64_t i = 0; i < quanta; ++i) {
      const QuantumStamps stamps(worker.stamps.data() + i * pieces_a_quantum, pieces_a_quantum + 1);
      worker.account.add(stamps);
      meter.add_part(part_quantum, stamps.back() - stamps.front());
    }
}

void FixedWorkPhase::watch(Meter& meter) {
  auto left_ns = static_cast<std::int64_t>(parameters_.watch_s * 1e9);
  while (left_ns > 0 && meter.goes_on()) {
    const std::int64_t slice = std::min(left_ns, watch_slice_ns);
    (void)team_.run({[&](std::size_t thread) { workers_[thread].watch.watch(slice, now_ns); }, {}});
    count_detours(meter);
    meter.report_alive();
    left_ns -= slice;
  }
}

void FixedWorkPhase::count_detours(Meter& meter) {
  for (const Worker& worker : workers_) {
    watched_ns_ += static_cast<double>(worker.watch.watched_ns());
    for (const std::int64_t took_ns : worker.watch.detours()) {
      ++detours_;
      detour_ns_ += static_cast<double>(took_ns);
      longest_detour_ns_ = std::max(longest_detour_ns_, took_ns);
      meter.add_part(part_detour, took_ns);
    }
  }
}

Gauges FixedWorkPhase::gauges() const {
  QuantumAccount all;
  double worst = 0;
  for (const Worker& worker : workers_) {
    all.merge(worker.account);
    worst = std::max(worst, worker.account.noise_share());
  }
  const Histogram& times = all.histogram();
  const double cycles = static_cast<double>(piece_blocks_ * pieces_a_quantum * all.count()) * cycles_a_block();
  return {{"kernel_s", static_cast<double>(elapsed_ns_) * 1e-9},
          {"shortest_ns", static_cast<double>(times.min_ns())},
          {"median_ns", static_cast<double>(times.quantile_ns(0.5))},
          {"p99_ns", static_cast<double>(times.quantile_ns(0.99))},
          {"longest_ns", static_cast<double>(times.max_ns())},
          {"noise_share", all.noise_share()},
          {"worst_noise_share", worst},
          {"turbo_share", all.turbo_share()},
          {"detours", static_cast<double>(detours_)},
          {"detour_s", detour_ns_ * 1e-9},
          {"watched_s", watched_ns_ * 1e-9},
          {"longest_detour_s", static_cast<double>(longest_detour_ns_) * 1e-9},
          {"detour_from_s", static_cast<double>(detour_from_ns(look_ns_)) * 1e-9},
          {"clock_hz", all.undisturbed_ns() > 0 ? cycles * 1e9 / all.undisturbed_ns() : 0},
          {"threads", static_cast<double>(team_.size())},
          {"unpinned_threads", static_cast<double>(team_.unpinned())}};
}

namespace {

const Registered<WorkloadEntry> registered_fixed_work{without_storage<FixedWorkParameters>({
    .name = "fixed-work",
    .doc = "Times quanta of the same work on each thread, then watches for detours: times when something else runs on "
           "the thread's core.",
    .make = single_phase<FixedWorkPhase>,
})};

}  // namespace
}  // namespace ullage
