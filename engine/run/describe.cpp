// SPDX-License-Identifier: Apache-2.0
#include "run/describe.hpp"

#include "abi/choice.hpp"
#include "base/json.hpp"
#include "mpi/abi.hpp"
#include "mpi/collectives.hpp"
#include "mpi/comm.hpp"
#include "probes/probe.hpp"
#include "run/build/build_facts.hpp"
#include "run/stop_rule.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

Json parameter_json(const ParameterSpec& spec) {
  Json json{{"name", spec.name},       {"type", type_name(spec.type)},
            {"unit", spec.unit},       {"default", to_json(spec.default_value)},
            {"choices", spec.choices}, {"doc", spec.doc}};
  json["minimum"] = spec.minimum ? Json(*spec.minimum) : Json(nullptr);
  json["maximum"] = spec.maximum ? Json(*spec.maximum) : Json(nullptr);
  return json;
}

/// Why this entry cannot be used here; nothing where it can.
template <class Entry>
std::optional<std::string> why_not(const Entry& entry) {
  return entry.description.unavailable();
}

constexpr int many_ranks = 64;

/// Without MPI there is no work between ranks: what refuses a single rank, and takes several.
std::optional<std::string> why_not(const WorkloadEntry& entry) {
  const auto* const work = std::get_if<WorkWithoutStorage>(&entry.work);
  if (mpi::abi() != "single" || work == nullptr || !work->check) return entry.description.unavailable();
  Values usual;
  for (const ParameterSpec& spec : entry.description.parameters) usual[spec.name] = spec.default_value;
  const auto takes = [&](int ranks) {
    PlannedLayout layout;
    layout.ranks = ranks;
    return work->check(usual, layout, "").has_value();
  };
  if (takes(1) || !takes(many_ranks)) return entry.description.unavailable();
  return "it is work between ranks, and this engine runs without MPI; load the module of an MPI";
}

Json description_json(const Description& description, const std::optional<std::string>& reason,
                      const std::vector<std::string>& capabilities) {
  Json parameters = Json::array();
  for (const auto& spec : description.parameters) parameters.push_back(parameter_json(spec));
  return {{"name", description.name},         {"doc", description.doc},
          {"available", !reason.has_value()}, {"reason", reason ? Json(*reason) : Json(nullptr)},
          {"capabilities", capabilities},     {"parameters", std::move(parameters)}};
}

std::vector<std::string> capabilities_of(const BackendEntry& entry) { return capability_words(entry.capabilities); }
std::vector<std::string> capabilities_of(const WorkloadEntry& entry) {
  std::vector<std::string> words = entry.description.capabilities;
  if (!entry.works_on_storage()) words.insert(words.begin(), "no-storage");
  return words;
}
template <class Entry>
std::vector<std::string> capabilities_of(const Entry& entry) {
  return entry.description.capabilities;
}

template <class Entry>
Json registry_json(const std::string& name) {
  Json list = Json::array();
  for (const auto& entry : Registry<Entry>::instance().all())
    if (name.empty() || entry.description.name == name)
      list.push_back(description_json(entry.description, why_not(entry), capabilities_of(entry)));
  return list;
}

Json chooser_said(const char* what, const Json& otherwise) {
  const Json& said = said_by_chooser();
  return said.is_object() && said.contains(what) ? said[what] : otherwise;
}

}  // namespace

Json describe_build() {
  const BuildFacts build = build_facts();
  return {{"version", build.version},
          {"git", build.git},
          {"compiler", build.compiler},
          {"flags", build.flags},
          {"mpi",
           {{"family", mpi::family()},
            {"abi", mpi::abi()},
            {"library", mpi::library_version()},
            {"mpiexec", build.mpiexec},
            {"why", chooser_said("why", "")}}}};
}

Result<Json> describe(const std::string& name) {
  Json document{{"schema", "ullage.describe/1"},
                {"engine", describe_build()},
                {"mpi", {{"large_counts", mpi::has_large_counts()}, {"abis", chooser_said("abis", Json::array())}}},
                {"backends", registry_json<BackendEntry>(name)},
                {"workloads", registry_json<WorkloadEntry>(name)},
                {"probes", registry_json<ProbeEntry>(name)},
                {"stop_rules", registry_json<StopRuleEntry>(name)}};
  bool found = name.empty();
  for (const char* kind : {"backends", "workloads", "probes", "stop_rules"}) found = found || !document[kind].empty();
  if (!found) return fail(bad_plan(name, "there is nothing of this name; 'ullage-engine describe' lists all names"));
  return document;
}

}  // namespace ullage
