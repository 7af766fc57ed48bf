// SPDX-License-Identifier: Apache-2.0
#include "probes/core_use.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ullage {
namespace {

constexpr std::int64_t remarkable_drift_ppm = 100'000;
// Idle and waiting are each cut to whole ticks at both ends; 40 s of measurements stayed below two ticks.
constexpr std::int64_t uncertain_ticks = 2;

std::int64_t ppm(std::int64_t part_ns, std::int64_t whole_ns) {
  if (part_ns <= 0 || whole_ns <= 0) return 0;
  return static_cast<std::int64_t>(std::min(1.0, static_cast<double>(part_ns) / static_cast<double>(whole_ns)) * 1e6);
}

std::string percent(std::int64_t ppm_value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%", static_cast<double>(ppm_value) / 1e4);
  return text.data();
}

bool too_short(const CoreShares& shares) { return shares.uncertainty_ppm > ppm_one_percent; }

/// Ranks that have a core each and still waited for one were kept from it by somebody.
bool kept_waiting(const Evidence& evidence) {
  return too_short(evidence.shares) && !evidence.oversubscribed && evidence.run_delay_ppm >= ppm_five_percent;
}

}  // namespace

CoreShares shares_of(const CoreUse& use) {
  const std::int64_t capacity_ns = use.wall_ns * use.cpus;
  const std::int64_t foreign_ns =
      capacity_ns - use.idle_ns - use.steal_ns - use.interrupt_ns - use.own_ns - use.kernel_ns;
  CoreShares shares;
  shares.uncertainty_ppm = ppm(uncertain_ticks * use.tick_ns, capacity_ns);
  shares.kernel_ppm = ppm(use.kernel_ns, capacity_ns);
  const bool certain_only = too_short(shares);
  shares.foreign_ppm = ppm(foreign_ns - (certain_only ? uncertain_ticks * use.tick_ns : 0), capacity_ns);
  shares.steal_ppm = ppm(use.steal_ns - (certain_only ? use.tick_ns : 0), capacity_ns);
  return shares;
}

char grade_of(const Evidence& evidence) {
  const std::int64_t others_ppm = evidence.shares.foreign_ppm + evidence.shares.steal_ppm;
  if (others_ppm >= ppm_five_percent) return evidence.kernel_threads_known ? 'C' : 'B';
  if (others_ppm >= ppm_one_percent || kept_waiting(evidence)) return 'B';
  return 'A';
}

std::vector<std::string> reasons_of(const Evidence& evidence) {
  const CoreShares& shares = evidence.shares;
  const std::string where = evidence.worst_node.empty() ? "" : " on " + evidence.worst_node;
  std::vector<std::string> reasons;
  if (shares.foreign_ppm >= ppm_one_percent)
    reasons.push_back("other processes used " + percent(shares.foreign_ppm) + " of the cores" + where);
  if (shares.steal_ppm >= ppm_one_percent)
    reasons.push_back("the hypervisor took " + percent(shares.steal_ppm) + " of the cores" + where);
  if (!evidence.kernel_threads_known)
    reasons.emplace_back(
        "kernel threads cannot be told from other processes here, so what they did for our data counts as foreign");
  if (too_short(shares))
    reasons.push_back("too short for the kernel's accounts: the share of others is known to " +
                      percent(shares.uncertainty_ppm) + " only, of which the least is stated");
  if (kept_waiting(evidence))
    reasons.push_back("ranks waited " + percent(evidence.run_delay_ppm) + " of their time for a core");
  if (evidence.clock_drift_ppm >= remarkable_drift_ppm)
    reasons.push_back("a core's speed changed by " + percent(evidence.clock_drift_ppm) + " between begin and end");
  return reasons;
}

}  // namespace ullage
