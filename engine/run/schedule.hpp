// SPDX-License-Identifier: Apache-2.0
// Which case comes next, and when a case has had enough: rounds over the unfinished cases in a seeded order. Pure but
// for what it is told.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/plan.hpp"
#include "run/stop_rule.hpp"

namespace ullage {

/// Says what a repetition came to.
struct RepetitionOutcome {
  bool ok = true;
  bool warmup = false;
  char grade = 'A';             // worst phase
  std::int64_t elapsed_ns = 0;  // with everything around the phases
  Samples phases;               // one elapsed time a phase
};

/// Holds what to write into the case record.
struct Verdict {
  std::string stop;  // empty: another repetition follows
  std::optional<double> relative_width;
};

class Schedule final {
 public:
  Schedule(const Plan& plan, const StopRule& rule);

  struct Next {
    std::size_t index = 0;  // of the plan's case
    int repetition = 0;
    bool warmup = false;
  };
  /// `elapsed_ns` since the plan began. Nothing: done (or the budget is).
  [[nodiscard]] std::optional<Next> next(std::int64_t elapsed_ns);
  [[nodiscard]] Verdict finished(const Next& what, const RepetitionOutcome& outcome, std::int64_t elapsed_ns);
  /// Cases that the budget ended before their stop rule was satisfied.
  [[nodiscard]] std::vector<std::size_t> cut_by_budget() const;

 private:
  struct State {
    Samples samples;
    int begun = 0;
    int warmups_left = 0;
    std::int64_t longest_ns = 0;
    bool done = false;
    bool cut = false;
  };
  [[nodiscard]] bool fits(const State& state, std::int64_t elapsed_ns) const;
  void begin_round();

  const Plan& plan_;
  const StopRule& rule_;
  std::vector<State> states_;
  std::vector<std::size_t> order_;  // of this round, last first
  std::uint64_t round_ = 0;
};

}  // namespace ullage
