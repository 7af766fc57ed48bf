// SPDX-License-Identifier: Apache-2.0
// The plan as the engine understands it: parsed strictly, every name found, every parameter complete, before anything
// is touched.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "base/parameters.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// A registered thing with its complete parameters.
struct NamedValues {
  std::string name;
  Values values;
};

struct PlannedTarget {
  std::string name;
  std::string scheme;
  std::string path;  // empty: no storage
};

struct PlannedCase {
  std::string id;
  std::string target;
  NamedValues backend;
  NamedValues workload;
  std::string dataset;             // named: outlives the case, other cases use it; empty: one of its own
  std::vector<std::string> spill;  // targets, in this order, for data that finds no room at those before
  std::map<std::string, std::vector<std::int64_t>> prior_elapsed_ns;  // by phase
  int first_repetition = 0;  // number of the first one here: those below it are in earlier launches' records
};

struct Limits {
  std::optional<std::uint64_t> space_bytes;
  double space_fraction = 0.5;
  std::uint64_t reserve_bytes = 1ULL << 30;
};

/// Says in which order a round goes through the cases.
enum class CaseOrder { shuffled, listed };

struct Plan {
  std::string run_id;
  std::string suite;
  std::string records;
  std::uint64_t seed = 1;
  PlannedLayout layout;
  std::vector<PlannedTarget> targets;
  NamedValues stop_rule;
  std::optional<double> time_budget_s;
  int warmups = 0;
  double watchdog_s = 120;
  Limits limits;
  CaseOrder order = CaseOrder::shuffled;
  bool keep = false;
  bool keep_when_interrupted = false;
  bool continues = false;             // goes on with the datasets an earlier launch of this run left
  std::vector<std::string> prepared;  // datasets whose directory is made in a folder of that name at the target
  std::vector<PlannedCase> cases;

  [[nodiscard]] const PlannedTarget& target_of(const PlannedCase& planned) const;
  /// Returns whether data of the case may lie there.
  [[nodiscard]] static bool may_lie_at(const PlannedCase& planned, const std::string& target);
};

/// Errors are ErrorKind::bad_plan with the JSON pointer.
[[nodiscard]] Result<Plan> parse_plan(const std::string& text);

/// What each case of a JSON list needs of its target at its fullest, in the same order: a case is the `layout` and the
/// `workload` of a plan. Errors are those of parse_plan.
[[nodiscard]] Result<nlohmann::json> needs_of_cases(const std::string& text);

}  // namespace ullage
