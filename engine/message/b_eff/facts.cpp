// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/facts.hpp"

#include <map>
#include <string>

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
