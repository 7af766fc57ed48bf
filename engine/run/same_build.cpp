// SPDX-License-Identifier: Apache-2.0
#include "run/same_build.hpp"

#include "base/json.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
#include "mpi/abi.hpp"
#include "run/build/build_facts.hpp"

namespace ullage {
namespace {

constexpr std::array<const char*, 6> fact_names{"version", "git", "compiler", "flags", "MPI", "mpiexec"};
constexpr std::size_t always_told = 2;
using Facts = std::array<std::string, fact_names.size()>;

Facts facts_of(const BuildFacts& build) {
  return {std::string(build.version), std::string(build.git),  std::string(build.compiler),
          std::string(build.flags),   std::string(mpi::abi()), std::string(build.mpiexec)};
}

/// Which version it is, and all else in which it differs from another one.
std::string told(const Facts& facts, const Facts& other) {
  std::string text;
  for (std::size_t i = 0; i < facts.size(); ++i)
    if (i < always_told || facts[i] != other[i])
      text += (i == 0 ? "" : ", ") + std::string(fact_names[i]) + " " + facts[i];
  return text;
}

}  // namespace

Status check_same_build(const mpi::Comm& all) { return check_same_build(all, build_facts()); }

Status check_same_build(const mpi::Comm& all, const BuildFacts& own) {
  constexpr std::int64_t nobody = std::numeric_limits<std::int64_t>::max();
  const std::string mine = json_text(Json(facts_of(own)));
  const std::int64_t hash = stable_hash(mine);
  const bool differs = all.broadcast(hash, 0) != hash;
  const std::int64_t other = all.min(differs ? all.rank() : nobody);
  if (other == nobody) return {};
  const auto roots = parse_json(all.broadcast(mine, 0)).get<Facts>();
  const auto others = parse_json(all.broadcast(mine, static_cast<int>(other))).get<Facts>();
  const std::string host = all.broadcast(mpi::host_name(), static_cast<int>(other));
  return fail(environment_error("rank " + std::to_string(other) + " on " + host,
                                "runs another build of the engine than rank 0: " + told(others, roots) +
                                    " instead of " + told(roots, others) + "; install one build on all nodes"));
}

}  // namespace ullage
