// SPDX-License-Identifier: Apache-2.0
// Which case comes next, and when a case has had enough: rounds over the unfinished cases in a seeded order. Pure but
// for what it is told.
#pragma once

#include <cmath>

#include "base/permutation.hpp"
#include "base/std.hpp"
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
  Schedule(const Plan& plan, const StopRule& rule) : plan_(plan), rule_(rule), states_(plan.cases.size()) {
    for (std::size_t i = 0; i < states_.size(); ++i) {
      states_[i].begun = plan.cases[i].first_repetition;
      states_[i].samples = plan.cases[i].prior_elapsed_ns;
      states_[i].warmups_left = plan.warmups;
      states_[i].done = !states_[i].samples.empty() && rule.judge(states_[i].samples).stop;
    }
  }

  struct Next {
    std::size_t index = 0;  // of the plan's case
    int repetition = 0;
    bool warmup = false;
  };

  /// `elapsed_ns` since the plan began. Nothing: done (or the budget is).
  [[nodiscard]] std::optional<Next> next(std::int64_t elapsed_ns) {
    for (int looked = 0; looked < 2; ++looked) {
      while (!order_.empty()) {
        const std::size_t index = order_.back();
        order_.pop_back();
        State& state = states_[index];
        if (state.done) continue;
        if (fits(state, elapsed_ns)) return Next{index, state.begun++, state.warmups_left > 0};
        state.done = true;
        state.cut = true;
      }
      begin_round();
    }
    return std::nullopt;
  }

  [[nodiscard]] Verdict finished(const Next& what, const RepetitionOutcome& outcome, std::int64_t elapsed_ns) {
    State& state = states_[what.index];
    state.longest_ns = std::max(state.longest_ns, outcome.elapsed_ns);
    Verdict verdict;
    if (!outcome.ok) {
      state.done = true;
      return {"failed", std::nullopt};
    }
    if (what.warmup) {
      --state.warmups_left;
      return verdict;
    }
    // All count whatever their grade: slow and disturbed may go together, and who chose would shift the median.
    for (const auto& [phase, elapsed] : outcome.phases)
      state.samples[phase].insert(state.samples[phase].end(), elapsed.begin(), elapsed.end());
    const StopDecision decision = rule_.judge(state.samples);
    verdict.relative_width = decision.relative_width;
    if (decision.stop) verdict.stop = decision.reason;
    if (verdict.stop.empty() && !fits(state, elapsed_ns)) {
      verdict.stop = "budget";
      state.cut = true;
    }
    state.done = !verdict.stop.empty();
    return verdict;
  }

  /// Cases that the budget ended before their stop rule was satisfied.
  [[nodiscard]] std::vector<std::size_t> cut_by_budget() const {
    std::vector<std::size_t> cut;
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (states_[i].cut) cut.push_back(i);
    return cut;
  }

 private:
  struct State {
    Samples samples;
    int begun = 0;
    int warmups_left = 0;
    std::int64_t longest_ns = 0;
    bool done = false;
    bool cut = false;
  };

  /// Before a case has run once its length is unknown: it is begun while there is any time left.
  [[nodiscard]] bool fits(const State& state, std::int64_t elapsed_ns) const {
    if (!plan_.time_budget_s) return true;
    return elapsed_ns + state.longest_ns <= std::llround(*plan_.time_budget_s * 1e9);
  }

  void begin_round() {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (!states_[i].done) open.push_back(i);
    order_.clear();
    if (plan_.order == CaseOrder::listed) {
      order_.assign(open.rbegin(), open.rend());
    } else {
      const Permutation shuffled(std::max<std::uint64_t>(open.size(), 1), mix64(plan_.seed) ^ round_);
      for (std::size_t k = 0; k < open.size(); ++k) order_.push_back(open[static_cast<std::size_t>(shuffled(k))]);
    }
    ++round_;
  }

  const Plan& plan_;
  const StopRule& rule_;
  std::vector<State> states_;
  std::vector<std::size_t> order_;  // of this round, last first
  std::uint64_t round_ = 0;
};

}  // namespace ullage
