// SPDX-License-Identifier: Apache-2.0
// The machine's noise: fixed work again and again on each thread, then a watch for detours.
#pragma once

#include <cstdint>
#include <vector>

#include "base/thread_team.hpp"
#include "noise/detours.hpp"
#include "noise/quantum_account.hpp"
#include "work/workload.hpp"

namespace ullage {

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
