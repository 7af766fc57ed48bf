// SPDX-License-Identifier: Apache-2.0
// Who used the cores of a machine during a phase, and the grade that follows. Pure.
#pragma once

#include <cmath>
#include <cstdio>

#include "base/std.hpp"

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

// Idle and waiting are each cut to whole ticks at both ends; 40 s of measurements stayed below two ticks.
inline constexpr std::int64_t uncertain_ticks = 2;
inline constexpr double all_ppm = 1e6;

/// Rounded away from zero, so that a little is not nothing.
inline std::int64_t ppm(std::int64_t part_ns, std::int64_t whole_ns) {
  const double share = all_ppm * static_cast<double>(part_ns) / static_cast<double>(whole_ns);
  return static_cast<std::int64_t>(share < 0 ? std::floor(share) : std::ceil(share));
}

/// What is busy and neither ours, the kernel's nor an interrupt's is foreign.
[[nodiscard]] inline CoreShares shares_of(const CoreUse& use) {
  const std::int64_t capacity_ns = use.wall_ns * use.cpus;
  if (capacity_ns <= 0) return {0, 0, 0, static_cast<std::int64_t>(all_ppm)};  // of no core time nothing is known
  const std::int64_t foreign_ns =
      capacity_ns - use.idle_ns - use.steal_ns - use.interrupt_ns - use.own_ns - use.kernel_ns;
  return {ppm(foreign_ns, capacity_ns), ppm(use.steal_ns, capacity_ns), ppm(use.kernel_ns, capacity_ns),
          ppm(uncertain_ticks * use.tick_ns, capacity_ns)};
}

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
[[nodiscard]] inline Taken taken_by_others(const Evidence& evidence) {
  const CoreShares& shares = evidence.shares;
  const std::int64_t had = shares.foreign_ppm + shares.steal_ppm;
  Taken taken{had - shares.uncertainty_ppm, had + shares.uncertainty_ppm};
  if (evidence.run_delay_ppm >= 0 && !evidence.oversubscribed) {
    const auto waited = static_cast<double>(evidence.run_delay_ppm);
    const auto kernel = static_cast<double>(shares.kernel_ppm);
    const double most = std::max(0.0, static_cast<double>(shares.foreign_ppm + shares.uncertainty_ppm));
    const double least = std::max(0.0, static_cast<double>(shares.foreign_ppm - shares.uncertainty_ppm));
    const double caused_most = std::min(waited, evidence.cores_per_rank * most);
    double caused_least = std::max(0.0, waited - evidence.cores_per_rank * kernel);
    if (least > 0) caused_least = std::max(caused_least, waited * least / (least + kernel));
    // Of two ticks, idle time and waiting for I/O have one each, and steal has one.
    const std::int64_t grain = shares.uncertainty_ppm / uncertain_ticks;
    taken.least_ppm =
        std::llround(std::min(caused_least, caused_most)) + std::max<std::int64_t>(0, shares.steal_ppm - grain);
    taken.most_ppm = std::llround(caused_most) + shares.steal_ppm + grain;
  }
  if (!evidence.kernel_threads_known) taken.least_ppm = 0;
  return taken;
}

/// Ranks that have a core each and still waited for one were kept from it by somebody.
inline bool kept_waiting(const Evidence& evidence) {
  return !evidence.oversubscribed && evidence.run_delay_ppm >= ppm_five_percent;
}

inline bool cores_contended(const Evidence& evidence) {
  return !evidence.oversubscribed && evidence.pressure_cpu_ppm >= ppm_five_percent;
}

inline bool cores_used(const CoreShares& shares) {
  return shares.foreign_ppm + shares.steal_ppm - shares.uncertainty_ppm >= ppm_five_percent;
}

inline bool memory_contended(const Evidence& evidence) { return evidence.pressure_memory_ppm >= ppm_five_percent; }

inline bool clock_changed(const Evidence& evidence) { return evidence.clock_drift_ppm >= ppm_five_percent; }

/// Returns the grade by what others took of the ranks' time: A where it was below 1 % for certain, B where below 5 %, C
/// where it was 5 % or more for certain; '?' where the accounts cannot tell. From 5 % on, each of these makes an A a
/// B, because something was in the way, though not others for certain: waiting for a core or for memory, a clock that
/// changed, and others on cores for which no rank waited. Pressure of I/O is not judged: our own I/O makes it. The
/// front grades repetitions together by the same rule (analysis/verdicts/grades.py).
[[nodiscard]] inline char grade_of(const Evidence& evidence) {
  if (!evidence.readable) return '?';
  const Taken taken = taken_by_others(evidence);
  if (taken.least_ppm >= ppm_five_percent) return 'C';
  if (taken.most_ppm >= ppm_five_percent) return '?';
  const bool disturbed = kept_waiting(evidence) || cores_contended(evidence) || memory_contended(evidence) ||
                         clock_changed(evidence) || cores_used(evidence.shares);
  return taken.most_ppm >= ppm_one_percent || disturbed ? 'B' : 'A';
}

/// The one of two grades that promises less: A, B, ?, C in this order.
[[nodiscard]] inline char worse_grade(char first, char second) {
  constexpr std::string_view order = "AB?C";
  return order.find(first) < order.find(second) ? second : first;
}

inline std::string percent(std::int64_t ppm_value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", std::min(all_ppm, static_cast<double>(ppm_value)) / 1e4);
  return text.data();
}

/// The accounts cannot tell whether others used less than one percent.
inline bool too_short(const CoreShares& shares) { return shares.uncertainty_ppm > ppm_one_percent; }

inline void add_disturbances(const Evidence& evidence, std::vector<std::string>& reasons) {
  if (kept_waiting(evidence))
    reasons.push_back("ranks waited " + percent(evidence.run_delay_ppm) + " of their time for a core");
  if (cores_contended(evidence))
    reasons.push_back("for " + percent(evidence.pressure_cpu_ppm) +
                      " of the time some task, ours or another's, waited for a core");
  if (memory_contended(evidence))
    reasons.push_back("for " + percent(evidence.pressure_memory_ppm) +
                      " of the time some task waited for memory to be freed");
  if (clock_changed(evidence))
    reasons.push_back("a core's speed changed by " + percent(evidence.clock_drift_ppm) + " between begin and end");
}

/// One line for each thing a reader must know; empty for a clean, well measured phase.
[[nodiscard]] inline std::vector<std::string> reasons_of(const Evidence& evidence) {
  const CoreShares& shares = evidence.shares;
  const std::string where = evidence.worst_node.empty() ? "" : " on " + evidence.worst_node;
  std::vector<std::string> reasons;
  if (shares.foreign_ppm >= std::max(ppm_one_percent, shares.uncertainty_ppm))
    reasons.push_back("other processes used " + percent(shares.foreign_ppm) + " of the cores" + where);
  if (shares.steal_ppm >= std::max(ppm_one_percent, shares.uncertainty_ppm))
    reasons.push_back("the hypervisor took " + percent(shares.steal_ppm) + " of the cores" + where);
  if (!evidence.kernel_threads_known)
    reasons.emplace_back(
        "kernel threads cannot be told from other processes here, so what they did for our data counts as foreign");
  if (too_short(shares))
    reasons.push_back("too short for the kernel's accounts: the share of others is known to " +
                      percent(shares.uncertainty_ppm) + " only");
  add_disturbances(evidence, reasons);
  return reasons;
}

}  // namespace ullage
