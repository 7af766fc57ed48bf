// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <numeric>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/std.hpp"
#include "message/b_eff/run.hpp"
#include "message/message_ends.hpp"
#include "message/patterns/b_eff_patterns.hpp"
#include "work/entry.hpp"
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

  [[nodiscard]] PhaseInfo info() const override {
    return {.name = std::string(size_ < 10 ? "size-0" : "size-") + std::to_string(size_), .collective = true};
  }

  [[nodiscard]] Status before() override {
    run_.begin_size(size_);
    experiments_ = run_.experiments();
    times_s_.reserve(experiments_.size());
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override { return experiments_.size() * (size_ == 0 ? 2 : 1); }

  [[nodiscard]] Status execute(Meter& meter) override {
    const std::int64_t start = now_ns();
    if (size_ == 0) probe(meter);
    for (const BEffExperiment& experiment : experiments_) {
      times_s_.push_back(run_.measure(experiment, run_.loops(experiment.method), meter, ends_));
      run_.took(experiment, times_s_.back());
    }
    elapsed_s_ = static_cast<double>(now_ns() - start) * 1e-9;
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter& progress) override {
    for (const BEffExperiment& experiment : experiments_) {
      run_.check(experiment, ends_);
      progress.report_alive();
    }
    return ends_.found();
  }

  [[nodiscard]] Counters counters() const override {
    Counters counters;
    for (std::size_t pattern = 0; pattern < run_.patterns(); ++pattern)
      counters["messages/" + run_.name(pattern)] = run_.sends(pattern);
    return counters;
  }

  [[nodiscard]] Gauges gauges() const override {
    Gauges gauges{{"message_bytes", static_cast<double>(run_.sizes()[size_])}};
    for (const mpi::MessageMethod method : message_methods)
      gauges["loops/" + word_of(method)] = static_cast<double>(run_.loops(method));
    for (std::size_t i = 0; i < times_s_.size(); ++i) {
      const auto& [pattern, method] = experiments_[i];
      gauges["t/" + run_.name(pattern) + "/" + word_of(method) + "_s"] = times_s_[i];
    }
    gauges["accounted_s"] =
        std::accumulate(times_s_.begin(), times_s_.end(), 0.0) + std::accumulate(probe_s_.begin(), probe_s_.end(), 0.0);
    if (size_ != 0) return gauges;
    gauges["probe_loops"] = static_cast<double>(BEffLoops::probe_loops);
    for (const mpi::MessageMethod method : message_methods)
      gauges["probe/" + word_of(method) + "_s"] = probe_s_[static_cast<std::size_t>(method)];
    return gauges;
  }

  void add_facts(Json& facts) const override {
    facts["elapsed_s"] = elapsed_s_;
    facts["short"] = run_.is_short();
    if (size_ != 0) return;
    facts["sizes"] = run_.sizes();
    facts["pages"] = run_.pages();
    facts["seed"] = run_.parameters().seed;
    facts["patterns"] = facts_of(run_.parameters().patterns(run_.ranks()), most_listed_ranks);
    if (!run_.nodes().empty()) facts["nodes"] = nodes_json(run_.nodes());
  }

 private:
  void probe(Meter& meter) {
    for (const BEffExperiment& experiment : experiments_)
      probe_s_[static_cast<std::size_t>(experiment.method)] +=
          run_.measure(experiment, BEffLoops::probe_loops, meter, ends_);
    for (const mpi::MessageMethod method : message_methods)
      run_.probed(method, probe_s_[static_cast<std::size_t>(method)]);
    run_.settle_loops();
  }

  BEffRun& run_;
  std::size_t size_;
  MessageEnds ends_;
  std::vector<BEffExperiment> experiments_;
  std::vector<double> times_s_;  // of these
  std::array<double, message_methods.size()> probe_s_{};
  double elapsed_s_ = 0;
};

}  // namespace ullage
