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

/// Has shares in parts per million of all cores' time, as measured. The counters' grain may be longer than a short
/// phase: then foreign_ppm may be negative, and it and uncertainty_ppm may be more than the whole.
struct CoreShares {
  std::int64_t foreign_ppm = 0;
  std::int64_t steal_ppm = 0;
  std::int64_t kernel_ppm = 0;
  std::int64_t uncertainty_ppm = 0;  // what others had together lies so much above or below foreign_ppm + steal_ppm
};

constexpr std::int64_t ppm_one_percent = 10'000;
constexpr std::int64_t ppm_five_percent = 50'000;

/// What is busy and neither ours, the kernel's nor an interrupt's is foreign.
[[nodiscard]] CoreShares shares_of(const CoreUse& use);

/// Everything that a grade rests on, worst machine each.
struct Evidence {
  CoreShares shares;
  bool kernel_threads_known = true;
  bool oversubscribed = false;
  bool readable = true;             // the accounts of every machine
  std::int64_t run_delay_ppm = -1;  // of the ranks' own time; -1: not known
  double cores_per_rank = 1;
  std::int64_t clock_drift_ppm = -1;      // of a core, between the begin and the end of the phase
  std::int64_t pressure_cpu_ppm = -1;     // time in which some task, ours or another's, waited for a core
  std::int64_t pressure_memory_ppm = -1;  // time in which some task waited for memory to be freed
  std::string worst_node;
};

/// Has what others took of the ranks' time, in parts per million.
struct Taken {
  std::int64_t least_ppm = 0;
  std::int64_t most_ppm = 0;
};

/// Others take time from ranks that wait for a core, and by steal. Of the wait, others caused no more than the core
/// time that they had. They caused all that kernel threads did not have the time to cause, and where others ran for
/// certain at least their part of the time of both. Where the wait is not known, or ranks share cores and wait for each
/// other, others took what they had of the cores.
[[nodiscard]] Taken taken_by_others(const Evidence& evidence);
/// Returns the grade by what others took of the ranks' time: A where it was below 1 % for certain, B where below 5 %, C
/// where it was 5 % or more for certain; '?' where the accounts cannot tell. From 5 % on, each of these makes an A a
/// B, because something was in the way, though not others for certain: waiting for a core or for memory, a clock that
/// changed, and others on cores for which no rank waited. Pressure of I/O is not judged: our own I/O makes it. The
/// front grades repetitions together by the same rule (analysis/verdicts/grades.py).
[[nodiscard]] char grade_of(const Evidence& evidence);
/// The one of two grades that promises less: A, B, ?, C in this order.
[[nodiscard]] char worse_grade(char first, char second);
/// One line for each thing a reader must know; empty for a clean, well measured phase.
[[nodiscard]] std::vector<std::string> reasons_of(const Evidence& evidence);

}  // namespace ullage
