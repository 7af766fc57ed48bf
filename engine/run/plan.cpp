// SPDX-License-Identifier: Apache-2.0
#include "run/plan.hpp"

#include "base/hex.hpp"
#include "base/json.hpp"
#include "base/registry.hpp"
#include "run/stop_rule.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

constexpr std::int64_t any_count = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t most_ranks = 1 << 24;
constexpr std::int64_t most_repetitions = 1 << 30;

bool is_word(std::string_view text, std::string_view extra) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           extra.find(c) != std::string_view::npos;
  });
}

/// Finds a registered, available entry and completes its parameters.
template <class Entry>
Result<NamedValues> parse_named(const Json& json, const std::string& pointer, const std::string& kind) {
  ObjectReader reader(json, pointer);
  NamedValues named{reader.text("name"), {}};
  const Json* given = reader.member("parameters");
  if (auto status = reader.finish(); !status) return fail(status.error());
  const Entry* entry = Registry<Entry>::instance().find(named.name);
  if (entry == nullptr)
    return fail(
        bad_plan(pointer + "/name", "no " + kind + " is called '" + named.name + "'; see 'ullage-engine describe'"));
  if (const auto reason = entry->description.unavailable())
    return fail(bad_plan(pointer + "/name", kind + " '" + named.name + "' is not available: " + *reason));
  Values values;
  if (given != nullptr) {
    auto parsed = values_from(*given, pointer + "/parameters");
    if (!parsed) return fail(parsed.error());
    values = std::move(*parsed);
  }
  auto completed = complete(entry->description.parameters, values, pointer + "/parameters");
  if (!completed) return fail(completed.error());
  named.values = std::move(*completed);
  return named;
}

Result<PlannedLayout> parse_layout(const Json& json, const std::string& pointer) {
  ObjectReader reader(json, pointer);
  PlannedLayout layout;
  layout.ranks = static_cast<int>(reader.integer("ranks", 1, most_ranks));
  if (const auto nodes = reader.optional_integer("nodes", 1, most_ranks)) layout.nodes = static_cast<int>(*nodes);
  if (const auto per_node = reader.optional_integer("ranks_per_node", 1, most_ranks))
    layout.ranks_per_node = static_cast<int>(*per_node);
  layout.threads = static_cast<int>(reader.integer("threads", 1, 4096, 1));
  layout.binding = reader.text("binding", "none");
  if (layout.binding != "none" && layout.binding != "core")
    reader.mistake(bad_plan(reader.at("binding"), "must be core or none"));
  if (auto status = reader.finish(); !status) return fail(status.error());
  return layout;
}

Result<PlannedTarget> parse_target(const Json& json, const std::string& pointer) {
  ObjectReader reader(json, pointer);
  PlannedTarget target;
  target.name = reader.text("name");
  const std::string uri = reader.text("uri");
  if (auto status = reader.finish(); !status) return fail(status.error());
  const std::size_t colon = uri.find(':');
  if (target.name.empty()) return fail(bad_plan(pointer + "/name", "is empty"));
  if (colon == std::string::npos || colon == 0) return fail(bad_plan(pointer + "/uri", "must be SCHEME:PATH"));
  target.scheme = uri.substr(0, colon);
  target.path = uri.substr(colon + 1);
  if (!target.path.empty() && target.path.front() != '/')
    return fail(bad_plan(pointer + "/uri", "the path must be absolute"));
  if (target.path.find('\0') != std::string::npos)
    return fail(bad_plan(pointer + "/uri", "the path must not hold a NUL byte"));
  return target;
}

Result<Limits> parse_limits(const Json& json, const std::string& pointer) {
  ObjectReader reader(json, pointer);
  Limits limits;
  if (const auto bytes = reader.optional_integer("space_bytes", 0, any_count))
    limits.space_bytes = static_cast<std::uint64_t>(*bytes);
  limits.space_fraction = reader.number("space_fraction", 1e-9, 1, limits.space_fraction);
  limits.reserve_bytes = static_cast<std::uint64_t>(
      reader.integer("reserve_bytes", 0, any_count, static_cast<std::int64_t>(limits.reserve_bytes)));
  if (auto status = reader.finish(); !status) return fail(status.error());
  return limits;
}

Result<std::map<std::string, std::vector<std::int64_t>>> parse_prior(const Json& json, const std::string& pointer) {
  std::map<std::string, std::vector<std::int64_t>> prior;
  if (!json.is_object()) return fail(bad_plan(pointer, "must be an object"));
  for (const auto& [phase, samples] : json.items()) {
    const std::string here = pointer + "/" + phase;
    if (!samples.is_array()) return fail(bad_plan(here, "must be a list"));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (!samples[i].is_number_integer() || samples[i].get<std::int64_t>() <= 0)
        return fail(bad_plan(here + "/" + std::to_string(i), "must be a positive integer of ns"));
      prior[phase].push_back(samples[i].get<std::int64_t>());
    }
  }
  return prior;
}

/// Each target is another one with a path, and the work can lie at several.
Status check_spill(const Plan& plan, const PlannedCase& planned, const std::string& pointer) {
  std::vector<std::string> seen{planned.target};
  for (std::size_t i = 0; i < planned.spill.size(); ++i) {
    const std::string here = pointer + "/spill/" + std::to_string(i);
    const auto target = std::ranges::find(plan.targets, planned.spill[i], &PlannedTarget::name);
    if (target == plan.targets.end()) return fail(bad_plan(here, "no target is called '" + planned.spill[i] + "'"));
    if (target->path.empty() || plan.target_of(planned).path.empty())
      return fail(bad_plan(here, "needs targets with a path"));
    if (std::ranges::find(seen, planned.spill[i]) != seen.end()) return fail(bad_plan(here, "is named twice"));
    seen.push_back(planned.spill[i]);
  }
  if (planned.spill.empty()) return {};
  if (plan.keep || !planned.dataset.empty())
    return fail(bad_plan(pointer + "/spill", "must be empty where datasets are kept"));
  const auto* workload = Registry<WorkloadEntry>::instance().find(planned.workload.name);
  return workload->check_spill(planned.workload.values, pointer);
}

Status check_case(const Plan& plan, const PlannedCase& planned, const std::string& pointer) {
  const auto target = std::ranges::find(plan.targets, planned.target, &PlannedTarget::name);
  if (target == plan.targets.end())
    return fail(bad_plan(pointer + "/target", "no target is called '" + planned.target + "'"));
  const auto* backend = Registry<BackendEntry>::instance().find(planned.backend.name);
  if (backend->capabilities.path && target->path.empty())
    return fail(bad_plan(pointer + "/target", "backend '" + planned.backend.name + "' needs a target with a path"));
  if (auto status = check_spill(plan, planned, pointer); !status) return status;
  if (backend->check)
    if (auto status = backend->check(planned.backend.values, pointer + "/backend/parameters"); !status) return status;
  const auto* workload = Registry<WorkloadEntry>::instance().find(planned.workload.name);
  if (!workload->works_on_storage() && planned.backend.name != "null")
    return fail(bad_plan(pointer + "/backend/name",
                         "must be null: workload '" + planned.workload.name + "' works on cores and memory"));
  if (backend->capabilities.memory && !planned.dataset.empty())
    return fail(bad_plan(pointer + "/dataset",
                         "must be empty: backend '" + planned.backend.name + "' holds data for one repetition"));
  if (planned.dataset.empty() && workload->uses_dataset(planned.workload.values))
    return fail(bad_plan(pointer + "/dataset", "is missing: these phases use a dataset that another case has made"));
  return workload->check(planned.workload.values, backend->capabilities, plan.layout, pointer + "/workload/parameters");
}

bool read_names(const Json& json, std::vector<std::string>& out) {
  if (!json.is_array() || !std::ranges::all_of(json, [](const Json& one) { return one.is_string(); })) return false;
  out = json.get<std::vector<std::string>>();
  return true;
}

Result<PlannedCase> parse_case(const Json& json, const std::string& pointer) {
  ObjectReader reader(json, pointer);
  PlannedCase planned;
  planned.id = reader.text("id");
  planned.target = reader.text("target");
  planned.dataset = reader.text("dataset", "");
  if (planned.dataset.size() > 64 || !is_word(planned.dataset, "_-"))
    reader.mistake(bad_plan(reader.at("dataset"), "must be at most 64 letters, digits, '_' or '-'"));
  const Json* spill = reader.member("spill");
  if (spill != nullptr && !read_names(*spill, planned.spill))
    reader.mistake(bad_plan(reader.at("spill"), "must be a list of names of targets"));
  const Json* backend = reader.member("backend");
  const Json* workload = reader.member("workload");
  planned.first_repetition = static_cast<int>(reader.integer("first_repetition", 0, most_repetitions, 0));
  const Json* prior = reader.member("prior_elapsed_ns");
  if (backend == nullptr) reader.mistake(bad_plan(reader.at("backend"), "is missing"));
  if (workload == nullptr) reader.mistake(bad_plan(reader.at("workload"), "is missing"));
  if (planned.id.size() != 16 || !is_hex(planned.id))
    reader.mistake(bad_plan(reader.at("id"), "must be 16 hexadecimal digits"));
  if (auto status = reader.finish(); !status) return fail(status.error());
  auto backend_values = parse_named<BackendEntry>(*backend, pointer + "/backend", "backend");
  if (!backend_values) return fail(backend_values.error());
  auto workload_values = parse_named<WorkloadEntry>(*workload, pointer + "/workload", "workload");
  if (!workload_values) return fail(workload_values.error());
  planned.backend = std::move(*backend_values);
  planned.workload = std::move(*workload_values);
  if (prior != nullptr) {
    auto samples = parse_prior(*prior, pointer + "/prior_elapsed_ns");
    if (!samples) return fail(samples.error());
    planned.prior_elapsed_ns = std::move(*samples);
  }
  return planned;
}

/// Parses each element of a JSON list with `parse(element, pointer)`.
template <class T, class Parse>
Status parse_list(const Json& json, const std::string& pointer, std::vector<T>& out, Parse parse) {
  if (json.empty()) return fail(bad_plan(pointer, "is empty"));
  for (std::size_t i = 0; i < json.size(); ++i) {
    auto element = parse(json[i], pointer + "/" + std::to_string(i));
    if (!element) return fail(element.error());
    out.push_back(std::move(*element));
  }
  return {};
}

Status check_unique(const Plan& plan) {
  for (std::size_t i = 0; i < plan.targets.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (plan.targets[i].name == plan.targets[j].name)
        return fail(bad_plan("/targets/" + std::to_string(i) + "/name",
                             "two targets are called '" + plan.targets[i].name + "'"));
  std::map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < plan.cases.size(); ++i)
    if (!seen.emplace(plan.cases[i].id, i).second)
      return fail(bad_plan("/cases/" + std::to_string(i) + "/id", "two cases have this id"));
  return {};
}

/// Names of datasets, of which there may be none.
Status parse_prepared(const Json& json, std::vector<std::string>& out) {
  const auto is_name = [](const Json& one) {
    return one.is_string() && !one.get_ref<const std::string&>().empty() &&
           is_word(one.get_ref<const std::string&>(), "_-");
  };
  if (!json.is_array() || !std::ranges::all_of(json, is_name))
    return fail(bad_plan("/prepared", "must be a list of names of datasets"));
  out = json.get<std::vector<std::string>>();
  return {};
}

struct PlanParts {
  const Json* layout;
  const Json* targets;
  const Json* stop_rule;
  const Json* limits;
  const Json* cases;
  const Json* prepared;
};

/// The plan's scalar members; the others are left in `parts`.
Result<Plan> parse_scalars(const Json& json, PlanParts& parts) {
  ObjectReader reader(json, "");
  Plan plan;
  if (reader.text("schema") != "ullage.plan/1") reader.mistake(bad_plan("/schema", "must be 'ullage.plan/1'"));
  plan.run_id = reader.text("run_id");
  if (plan.run_id.empty() || plan.run_id.size() > 64 || !is_word(plan.run_id, "._-") ||
      !is_word(plan.run_id.substr(0, 1), ""))
    reader.mistake(
        bad_plan("/run_id", "must be 1 to 64 letters, digits, '.', '_' or '-', beginning with a letter or digit"));
  plan.suite = reader.text("suite");
  plan.records = reader.text("records");
  plan.seed = static_cast<std::uint64_t>(reader.integer("seed", 0, any_count, 1));
  plan.time_budget_s = reader.optional_number("time_budget_s", 1e-6, 1e9);
  plan.warmups = static_cast<int>(reader.integer("warmups", 0, 1000, plan.warmups));
  plan.watchdog_s = reader.number("watchdog_s", 1e-3, 1e9, plan.watchdog_s);
  const std::string order = reader.text("order", "shuffled");
  if (order != "shuffled" && order != "listed") reader.mistake(bad_plan("/order", "must be shuffled or listed"));
  plan.order = order == "listed" ? CaseOrder::listed : CaseOrder::shuffled;
  plan.keep = reader.flag("keep", false);
  plan.keep_when_interrupted = reader.flag("keep_when_interrupted", false);
  plan.continues = reader.flag("continues", false);
  parts = {reader.member("layout"), reader.array("targets"), reader.member("stop_rule"),
           reader.member("limits"), reader.array("cases"),   reader.member("prepared")};
  if (parts.layout == nullptr) reader.mistake(bad_plan("/layout", "is missing"));
  if (parts.stop_rule == nullptr) reader.mistake(bad_plan("/stop_rule", "is missing"));
  if (auto status = reader.finish(); !status) return fail(status.error());
  return plan;
}

Status parse_parts(const PlanParts& parts, Plan& plan) {
  if (auto status = take_into(plan.layout, parse_layout(*parts.layout, "/layout")); !status) return status;
  if (parts.limits != nullptr) {
    if (auto status = take_into(plan.limits, parse_limits(*parts.limits, "/limits")); !status) return status;
  }
  if (parts.prepared != nullptr)
    if (auto status = parse_prepared(*parts.prepared, plan.prepared); !status) return status;
  auto rule = parse_named<StopRuleEntry>(*parts.stop_rule, "/stop_rule", "stop rule");
  if (!rule) return fail(rule.error());
  plan.stop_rule = std::move(*rule);
  if (auto status = parse_list(*parts.targets, "/targets", plan.targets, parse_target); !status) return status;
  if (auto status = parse_list(*parts.cases, "/cases", plan.cases, parse_case); !status) return status;
  if (auto status = check_unique(plan); !status) return status;
  for (std::size_t i = 0; i < plan.cases.size(); ++i)
    if (auto status = check_case(plan, plan.cases[i], "/cases/" + std::to_string(i)); !status) return status;
  return {};
}

Result<Json> parse_needs(const Json& json, const std::string& pointer) {
  ObjectReader reader(json, pointer);
  const Json* layout = reader.member("layout");
  const Json* workload = reader.member("workload");
  if (layout == nullptr || workload == nullptr)
    reader.mistake(bad_plan(reader.at(layout == nullptr ? "layout" : "workload"), "is missing"));
  if (auto status = reader.finish(); !status) return fail(status.error());
  const auto placed = parse_layout(*layout, pointer + "/layout");
  if (!placed) return fail(placed.error());
  const auto named = parse_named<WorkloadEntry>(*workload, pointer + "/workload", "workload");
  if (!named) return fail(named.error());
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find(named->name);
  const Needs needs = entry.needs(named->values, *placed);
  return Json{{"bytes", needs.bytes.value()},
              {"inodes", needs.inodes.value()},
              {"one_folder", entry.needs_one_folder(named->values)}};
}

}  // namespace

bool Plan::may_lie_at(const PlannedCase& planned, const std::string& target) {
  return planned.target == target || std::ranges::find(planned.spill, target) != planned.spill.end();
}

const PlannedTarget& Plan::target_of(const PlannedCase& planned) const {
  return *std::ranges::find(targets, planned.target, &PlannedTarget::name);
}

Result<Plan> parse_plan(const std::string& text) {
  const Json json = parse_json(text);
  if (json.is_discarded()) return fail(bad_plan("/", "is not valid JSON"));
  PlanParts parts{};
  auto plan = parse_scalars(json, parts);
  if (!plan) return plan;
  if (auto status = parse_parts(parts, *plan); !status) return fail(status.error());
  return plan;
}

Result<Json> needs_of_cases(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_array()) return fail(bad_plan("/", "is not a JSON list"));
  std::vector<Json> found;
  if (auto status = parse_list(json, "", found, parse_needs); !status) return fail(status.error());
  return Json(std::move(found));
}

}  // namespace ullage
