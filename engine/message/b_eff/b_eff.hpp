// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "base/json.hpp"
#include "message/b_eff/run.hpp"
#include "message/patterns/b_eff_patterns.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Each pattern by name: `rings` (their sizes), `dims`, `order` (the rank at each place, up to `most_places`),
/// `degenerate`: every rank does the same as in an earlier one, `same_as`.
[[nodiscard]] Json facts_of(const BEffPatterns& patterns, int most_places);

/// All patterns with messages of one length, `size-00` to `size-20`; an operation is one of them by one method, timed
/// by each rank alone from a common barrier. Gauges: message_bytes, t/PATTERN/METHOD_s (of all loops), loops/METHOD,
/// accounted_s (their sum and the probe's), and in the first phase probe/METHOD_s (of all patterns, probe_loops loops
/// each), which the loops are derived from. Counters: messages/PATTERN, sent in a loop.
class BEffPhase final : public PhaseWork {
 public:
  BEffPhase(BEffRun& run, std::size_t size) : run_(run), size_(size), ends_(run.make_ends()) {}

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;

 private:
  void probe(Meter& meter);

  BEffRun& run_;
  std::size_t size_;
  MessageEnds ends_;
  std::vector<BEffExperiment> experiments_;
  std::vector<double> times_s_;  // of these
  std::array<double, message_methods.size()> probe_s_{};
  double elapsed_s_ = 0;
};

}  // namespace ullage
