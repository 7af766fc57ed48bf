// SPDX-License-Identifier: Apache-2.0
// The machine's noise: fixed work again and again on each thread, then a watch for detours.
#pragma once

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/std.hpp"
#include "base/thread_team.hpp"
#include "noise/fixed_chain.hpp"
#include "work/entry.hpp"
#include "work/windowed_phase.hpp"
#include "work/workload.hpp"

namespace ullage {

// What quanta of fixed work tell: how much of their time somebody else has taken, and how much the clock.

/// Equal pieces of a quantum, each followed by a look at the clock.
constexpr std::size_t pieces_a_quantum = 16;
using QuantumStamps = std::span<const std::int64_t, pieces_a_quantum + 1>;

/// Mean of the two in the middle.
inline double middle(std::array<std::int64_t, pieces_a_quantum>& pieces) {
  static_assert(pieces_a_quantum % 2 == 0);
  const auto upper = pieces.begin() + pieces_a_quantum / 2;
  std::nth_element(pieces.begin(), upper, pieces.end());
  const std::int64_t lower = *std::max_element(pieces.begin(), upper);
  return static_cast<double>(lower + *upper) / 2;
}

inline double share(double part, double whole) { return whole > 0 ? std::max(0.0, part / whole) : 0; }

/// A core's clock does not change within a quantum, and an interruption meets one or two of its pieces. So the middle
/// piece tells the clock at that moment, adjacent to all others, and what the quantum took beyond 16 such pieces is
/// noise. A change of the clock makes all 16 longer, and is none.
class QuantumAccount final {
 public:
  /// `stamps`: the quantum's begin, and the end of each piece.
  void add(QuantumStamps stamps) {
    std::array<std::int64_t, pieces_a_quantum> pieces{};
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) pieces[piece] = stamps[piece + 1] - stamps[piece];
    histogram_.add(stamps.back() - stamps.front());
    undisturbed_ns_ += middle(pieces) * pieces_a_quantum;
  }

  void merge(const QuantumAccount& other) {
    histogram_.merge(other.histogram_);
    undisturbed_ns_ += other.undisturbed_ns_;
  }

  [[nodiscard]] std::uint64_t count() const { return histogram_.operations(); }
  [[nodiscard]] const Histogram& histogram() const { return histogram_; }
  [[nodiscard]] double total_ns() const { return static_cast<double>(histogram_.sum_ns()); }
  /// Returns what all quanta would have taken had nobody interrupted them, at the clocks they had.
  [[nodiscard]] double undisturbed_ns() const { return undisturbed_ns_; }
  /// Share of the time beyond that; 0 of nothing.
  [[nodiscard]] double noise_share() const { return share(total_ns() - undisturbed_ns_, total_ns()); }

  /// Share of the time beyond as many of the shortest quantum, which is what fixed-work tests usually call noise: it
  /// holds the clock's changes too.
  [[nodiscard]] double turbo_share() const {
    const double shortest = static_cast<double>(histogram_.min_ns()) * static_cast<double>(count());
    return share(total_ns() - shortest, total_ns());
  }

 private:
  Histogram histogram_;
  double undisturbed_ns_ = 0;
};

// Times in which a thread that does nothing but look at the clock does not get to do so.

/// Gaps longer than this are detours. Source of the method (selfish detour): Beckman, Iskra, Yoshii, Coghlan, "The
/// influence of operating systems on the performance of collective operations at extreme scale", Cluster 2006.
constexpr std::int64_t usual_detour_ns = 500;

/// Returns the same where looking at the clock takes so long that a few looks would be one.
[[nodiscard]] std::int64_t detour_from_ns(std::int64_t look_ns);

/// Returns how long a look at this machine's clock takes when nothing disturbs it: the fastest of many.
[[nodiscard]] std::int64_t time_of_a_look_ns();

/// Watches one thread: looks at the clock all the time and keeps the gaps that are longer than a look.
class DetourWatch final {
 public:
  DetourWatch(std::int64_t look_ns, std::int64_t most_ns) : look_ns_(look_ns), from_ns_(detour_from_ns(look_ns)) {
    // Touched here: a page's first fault would be a detour of our own making.
    detours_.assign(static_cast<std::size_t>(most_ns / from_ns_) + 1, 0);
    detours_.clear();
  }

  /// Looks at the clock, `look()` in ns, without a pause for `lasting_ns` <= most_ns. What was kept before is
  /// forgotten. Allocates nothing.
  template <class Look>
  void watch(std::int64_t lasting_ns, const Look& look) {
    detours_.clear();
    const std::int64_t begun = look();
    std::int64_t last = begun;
    while (last - begun < lasting_ns) {
      const std::int64_t now = look();
      if (now - last > from_ns_) detours_.push_back(now - last - look_ns_);
      last = now;
    }
    watched_ns_ = last - begun;
  }

  /// Returns how long each detour of the last watch took, without the look at the clock itself.
  [[nodiscard]] const std::vector<std::int64_t>& detours() const { return detours_; }
  [[nodiscard]] std::int64_t watched_ns() const { return watched_ns_; }

 private:
  std::int64_t look_ns_;
  std::int64_t from_ns_;
  std::int64_t watched_ns_ = 0;
  std::vector<std::int64_t> detours_;
};

struct FixedWorkParameters {
  int threads = 1;
  double quantum_s = 1e-4;
  std::uint64_t quanta = 3000;
  double watch_s = 0.3;
  double warm_up_s = 0.1;

  [[nodiscard]] static Table<FixedWorkParameters> table();
};

/// The meter's parts.
inline constexpr std::size_t part_quantum = 0;
inline constexpr std::size_t part_detour = 1;
inline const std::vector<std::string> part_names{"quantum", "detour"};

/// A batch is counted after it, outside all quanta: so its stamps are kept, and it ends soon after a request to stop.
inline constexpr std::uint64_t most_a_batch = 1024;
inline constexpr double batch_s = 0.2;
inline constexpr std::int64_t watch_slice_ns = 100'000'000;

/// Before each batch: threads that have slept find their caches and clocks again.
inline constexpr std::uint64_t untimed_quanta = 2;

/// Each thread, pinned, does `quanta` quanta of the same work back to back, in batches between which nothing is
/// counted; then it looks at the clock for watch_s. An operation is a quantum on every thread at once; the parts
/// `quantum` and `detour` hold each one of each thread. Gauges: kernel_s (of all batches), shortest_ns, median_ns,
/// p99_ns, longest_ns (quanta of all threads), noise_share and turbo_share (see QuantumAccount, all threads together),
/// worst_noise_share (of the thread that has most), detours, detour_s, watched_s (all threads together),
/// longest_detour_s, detour_from_s, clock_hz (mean; 0: not known), threads, unpinned_threads.
class FixedWorkPhase final : public PhaseWork {
 public:
  FixedWorkPhase(const FixedWorkParameters& parameters, const WorkloadContext& context)
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

  [[nodiscard]] PhaseInfo info() const override { return {.name = "fixed-work", .parts = part_names}; }

  [[nodiscard]] Status before() override {
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

  [[nodiscard]] std::uint64_t operations() const override { return parameters_.quanta; }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    const std::uint64_t room = (workers_.front().stamps.size() - 1) / pieces_a_quantum;
    prepared_ = std::min(most, room);
    is_last_ = first + prepared_ == parameters_.quanta;
    return prepared_;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    (void)team_.run({[&](std::size_t thread) { run_batch(thread, prepared_); }, {}});
    count_batch(prepared_, meter);
    if (meter.completed_many(prepared_, 0) && is_last_) watch(meter);
    return team_.status();
  }

  [[nodiscard]] Gauges gauges() const override {
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

 private:
  /// Holds what belongs to a thread; on cache lines of its own.
  struct alignas(256) Worker {
    std::vector<std::int64_t> stamps;  // of a batch
    QuantumAccount account;
    DetourWatch watch;
  };

  /// Pieces follow each other without a gap: what interrupts lies in one of them.
  void run_batch(std::size_t thread, std::uint64_t quanta) {
    run_chain(untimed_quanta * pieces_a_quantum * piece_blocks_);
    std::vector<std::int64_t>& stamps = workers_[thread].stamps;
    stamps[0] = now_ns();
    for (std::uint64_t piece = 1; piece <= quanta * pieces_a_quantum; ++piece) {
      run_chain(piece_blocks_);
      stamps[piece] = now_ns();
    }
  }

  void count_batch(std::uint64_t quanta, Meter& meter) {
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

  void watch(Meter& meter) {
    auto left_ns = static_cast<std::int64_t>(parameters_.watch_s * 1e9);
    while (left_ns > 0 && meter.goes_on()) {
      const std::int64_t slice = std::min(left_ns, watch_slice_ns);
      (void)team_.run({[&](std::size_t thread) { workers_[thread].watch.watch(slice, now_ns); }, {}});
      count_detours(meter);
      meter.report_alive();
      left_ns -= slice;
    }
  }

  void count_detours(Meter& meter) {
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

  FixedWorkParameters parameters_;
  ThreadTeam team_;
  std::int64_t look_ns_;
  std::vector<Worker> workers_;
  std::uint64_t piece_blocks_ = 1;
  bool is_last_ = false;
  std::int64_t elapsed_ns_ = 0;
  std::uint64_t detours_ = 0;
  double detour_ns_ = 0;
  double watched_ns_ = 0;
  std::int64_t longest_detour_ns_ = 0;
};

}  // namespace ullage
