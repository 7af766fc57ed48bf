// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff`: the effective bandwidth of all ranks, over patterns, message lengths and ways to send.
#include "message/b_eff/b_eff.hpp"

#include <map>
#include <numeric>
#include <string>

#include "base/clock.hpp"
#include "message/message_ends.hpp"
#include "message/patterns/ring_sizes.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

Json facts_of_pattern(const Pattern& pattern, int most_places) {
  Json facts = Json::object();
  if (const auto* rings = std::get_if<Rings>(&pattern.shape)) facts["rings"] = sizes_of(*rings);
  if (const auto* grid = std::get_if<Grid>(&pattern.shape)) facts["dims"] = grid->extents;
  const int places = places_of(pattern);
  if (places > most_places) return facts;
  Json& order = facts["order"] = Json::array();
  for (int place = 0; place < places; ++place) order.push_back(rank_at(pattern, place));
  return facts;
}

}  // namespace

Json facts_of(const BEffPatterns& patterns, int most_places) {
  Json facts = Json::object();
  std::map<std::uint64_t, std::string> seen;
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const Pattern pattern = patterns.make(i);
    const auto [first, is_new] = seen.emplace(fingerprint(pattern), pattern.name);
    Json& own = facts[pattern.name] = facts_of_pattern(pattern, most_places);
    own["degenerate"] = !is_new;
    if (!is_new) own["same_as"] = first->second;
  }
  return facts;
}

PhaseInfo BEffPhase::info() const {
  return {.name = std::string(size_ < 10 ? "size-0" : "size-") + std::to_string(size_), .collective = true};
}

Status BEffPhase::before() {
  run_.begin_size(size_);
  experiments_ = run_.experiments();
  times_s_.reserve(experiments_.size());
  return {};
}

std::uint64_t BEffPhase::operations() const { return experiments_.size() * (size_ == 0 ? 2 : 1); }

Status BEffPhase::execute(Meter& meter) {
  const std::int64_t start = now_ns();
  if (size_ == 0) probe(meter);
  for (const BEffExperiment& experiment : experiments_) {
    times_s_.push_back(run_.measure(experiment, run_.loops(experiment.method), meter, ends_));
    run_.took(experiment, times_s_.back());
  }
  elapsed_s_ = static_cast<double>(now_ns() - start) * 1e-9;
  return {};
}

void BEffPhase::probe(Meter& meter) {
  for (const BEffExperiment& experiment : experiments_)
    probe_s_[static_cast<std::size_t>(experiment.method)] +=
        run_.measure(experiment, BEffLoops::probe_loops, meter, ends_);
  for (const mpi::MessageMethod method : message_methods)
    run_.probed(method, probe_s_[static_cast<std::size_t>(method)]);
  run_.settle_loops();
}

Verification BEffPhase::after(std::uint64_t, Meter& progress) {
  for (const BEffExperiment& experiment : experiments_) {
    run_.check(experiment, ends_);
    progress.report_alive();
  }
  return ends_.found();
}

Counters BEffPhase::counters() const {
  Counters counters;
  for (std::size_t pattern = 0; pattern < run_.patterns(); ++pattern)
    counters["messages/" + run_.name(pattern)] = run_.sends(pattern);
  return counters;
}

Gauges BEffPhase::gauges() const {
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

void BEffPhase::add_facts(Json& facts) const {
  facts["elapsed_s"] = elapsed_s_;
  facts["short"] = run_.is_short();
  if (size_ != 0) return;
  facts["sizes"] = run_.sizes();
  facts["pages"] = run_.pages();
  facts["seed"] = run_.parameters().seed;
  facts["patterns"] = facts_of(run_.parameters().patterns(run_.ranks()), most_listed_ranks);
  if (!run_.nodes().empty()) facts["nodes"] = nodes_json(run_.nodes());
}

namespace {

class BEff final : public Workload {
 public:
  BEff(const BEffParameters& parameters, const WorkloadContext& context) : run_(parameters, context) {}

  void find_peers() override { run_.find_peers(); }
  [[nodiscard]] LocalSteps begin() override {
    return {{"check the free memory", [this] { return run_.look_for_room(); }}, {"make messages", [this] -> Status {
                                                                                   run_.make_messages();
                                                                                   return {};
                                                                                 }}};
  }
  [[nodiscard]] std::size_t phases() const override { return b_eff_size_count; }
  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    return std::make_unique<BEffPhase>(run_, index);
  }

 private:
  BEffRun run_;
};

Status check_b_eff(const BEffParameters&, int ranks, const std::string& pointer) {
  if (ranks < 2) return fail(bad_plan(pointer, "b-eff needs two ranks or more"));
  return {};
}

const Registered<WorkloadEntry> registered_b_eff{without_storage<BEffParameters>({
    .name = "b-eff",
    .doc = "Sends messages of 21 lengths in rings, random rings, bisections and halos, by three methods of calling "
           "MPI.",
    .check = check_b_eff,
    .make = workload_of<BEff>,
})};

}  // namespace
}  // namespace ullage
