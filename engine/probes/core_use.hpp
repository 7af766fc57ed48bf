// SPDX-License-Identifier: Apache-2.0
// Who used the cores of a machine during a phase, and the grade that follows. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ullage {

/// Core time on one running kernel between two readings.
struct CoreUse {
  std::int64_t wall_ns = 0;
  int cpus = 1;
  std::int64_t idle_ns = 0;           // waiting for I/O counts as idle
  std::int64_t steal_ns = 0;          // taken by the hypervisor
  std::int64_t interrupt_ns = 0;      // our own I/O causes them too, so they are nobody's
  std::int64_t own_ns = 0;            // of all our ranks
  std::int64_t kernel_ns = 0;         // of kernel threads: write-back of our data and the like
  std::int64_t tick_ns = 10'000'000;  // resolution of the kernel's accounts
};

/// In parts per million of all cores' time.
struct CoreShares {
  std::int64_t foreign_ppm = 0;
  std::int64_t steal_ppm = 0;
  std::int64_t kernel_ppm = 0;
  std::int64_t uncertainty_ppm = 0;  // of foreign_ppm, before it was lowered by it
};

constexpr std::int64_t ppm_one_percent = 10'000;
constexpr std::int64_t ppm_five_percent = 50'000;

/// What is busy and neither ours, the kernel's nor an interrupt's is foreign. Where the phase is so short that the
/// accounts' resolution is above one percent of its core time, only what is certain is counted.
[[nodiscard]] CoreShares shares_of(const CoreUse& use);

/// Everything that a grade rests on, worst machine each.
struct Evidence {
  CoreShares shares;
  bool kernel_threads_known = true;
  bool oversubscribed = false;
  std::int64_t run_delay_ppm = -1;  // of the ranks' own time; -1: not known
  std::int64_t clock_drift_ppm = -1;
  std::string worst_node;
};

/// A below 1 %, B below 5 %, else C, by foreign use and steal. Pressure is not judged: our own ranks make some.
[[nodiscard]] char grade_of(const Evidence& evidence);
/// One line for each thing a reader must know; empty for a clean, well measured phase.
[[nodiscard]] std::vector<std::string> reasons_of(const Evidence& evidence);

}  // namespace ullage
