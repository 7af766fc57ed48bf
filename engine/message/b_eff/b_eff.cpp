// SPDX-License-Identifier: Apache-2.0
// Workload `b-eff`: the effective bandwidth of all ranks, over patterns, message lengths and ways to send.
#include "message/b_eff/b_eff.hpp"

#include <map>

#include "message/patterns/ring_sizes.hpp"

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

}  // namespace ullage
