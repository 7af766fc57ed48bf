// SPDX-License-Identifier: Apache-2.0
// The machine's noise: fixed work again and again on each thread, then a watch for detours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/histogram.hpp"
#include "base/thread_team.hpp"
#include "work/workload.hpp"

namespace ullage {

// What quanta of fixed work tell: how much of their time somebody else has taken, and how much the clock.

/// Equal pieces of a quantum, each followed by a look at the clock.
constexpr std::size_t pieces_a_quantum = 16;
using QuantumStamps = std::span<const std::int64_t, pieces_a_quantum + 1>;

/// A core's clock does not change within a quantum, and an interruption meets one or two of its pieces. So the middle
/// piece tells the clock at that moment, adjacent to all others, and what the quantum took beyond 16 such pieces is
/// noise. A change of the clock makes all 16 longer, and is none.
class QuantumAccount final {
 public:
  /// `stamps`: the quantum's begin, and the end of each piece.
  void add(QuantumStamps stamps);
  void merge(const QuantumAccount& other);

  [[nodiscard]] std::uint64_t count() const { return histogram_.operations(); }
  [[nodiscard]] const Histogram& histogram() const { return histogram_; }
  [[nodiscard]] double total_ns() const { return static_cast<double>(histogram_.sum_ns()); }
  /// Returns what all quanta would have taken had nobody interrupted them, at the clocks they had.
  [[nodiscard]] double undisturbed_ns() const { return undisturbed_ns_; }
  /// Share of the time beyond that; 0 of nothing.
  [[nodiscard]] double noise_share() const;
  /// Share of the time beyond as many of the shortest quantum, which is what fixed-work tests usually call noise: it
  /// holds the clock's changes too.
  [[nodiscard]] double turbo_share() const;

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
  DetourWatch(std::int64_t look_ns, std::int64_t most_ns);

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

/// Each thread, pinned, does `quanta` quanta of the same work back to back, in batches between which nothing is
/// counted; then it looks at the clock for watch_s. An operation is a quantum on every thread at once; the parts
/// `quantum` and `detour` hold each one of each thread. Gauges: kernel_s (of all batches), shortest_ns, median_ns,
/// p99_ns, longest_ns (quanta of all threads), noise_share and turbo_share (see QuantumAccount, all threads together),
/// worst_noise_share (of the thread that has most), detours, detour_s, watched_s (all threads together),
/// longest_detour_s, detour_from_s, clock_hz (mean; 0: not known), threads, unpinned_threads.
class FixedWorkPhase final : public PhaseWork {
 public:
  FixedWorkPhase(const FixedWorkParameters& parameters, const WorkloadContext& context);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return parameters_.quanta; }
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Gauges gauges() const override;

 private:
  /// Holds what belongs to a thread; on cache lines of its own.
  struct alignas(256) Worker {
    std::vector<std::int64_t> stamps;  // of a batch
    QuantumAccount account;
    DetourWatch watch;
  };

  void run_batch(std::size_t thread, std::uint64_t quanta);
  void count_batch(std::uint64_t quanta, Meter& meter);
  void watch(Meter& meter);
  void count_detours(Meter& meter);

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
