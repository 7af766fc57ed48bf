// SPDX-License-Identifier: Apache-2.0
// Whatever registers itself is documented, and takes its own defaults.
#include "run/describe.hpp"

#include <gtest/gtest.h>

#include "probes/probe.hpp"
#include "run/build/build_facts.hpp"
#include "run/stop_rule.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage::describe_test {

constexpr std::array<const char*, 4> kinds{"backends", "workloads", "probes", "stop_rules"};

Json document() {
  const auto described = describe();
  EXPECT_TRUE(described.has_value());
  return described ? *described : Json();
}

std::set<std::string> names_of(const Json& list) {
  std::set<std::string> names;
  for (const Json& entry : list) EXPECT_TRUE(names.insert(entry["name"]).second) << entry["name"] << " is there twice";
  return names;
}

/// One line that says something.
bool is_doc(const Json& doc) {
  const auto text = doc.get<std::string>();
  return text.size() >= 3 && text.find('\n') == std::string::npos && text.front() != ' ' && text.back() != ' ';
}

template <class Check>
void each_entry(Check check) {
  const Json all = document();
  for (const char* kind : kinds)
    for (const Json& entry : all[kind]) check(entry);
}

template <class Check>
void each_parameter(Check check) {
  each_entry([&](const Json& entry) {
    for (const Json& parameter : entry["parameters"]) {
      SCOPED_TRACE(entry["name"].get<std::string>() + "." + parameter["name"].get<std::string>());
      check(parameter);
    }
  });
}

TEST(Describe, EverythingThatPlansMayNameIsThere) {
  const Json all = document();
  const auto holds = [&](const char* kind, const std::set<std::string>& wanted) {
    return std::ranges::includes(names_of(all[kind]), wanted);
  };
  EXPECT_EQ(all["schema"], "ullage.describe/1");
  EXPECT_TRUE(holds("backends", {"fault", "model", "mpiio", "null", "posix"}));
  EXPECT_TRUE(holds("workloads", {"transfer"}));
  EXPECT_TRUE(holds("probes", {"contamination", "moved", "resident"}));
  EXPECT_TRUE(holds("stop_rules", {"fixed", "median-ci", "time"}));
}

TEST(Describe, NamesAreUniqueAcrossKinds) {
  std::set<std::string> seen;
  each_entry([&](const Json& entry) { EXPECT_TRUE(seen.insert(entry["name"]).second) << entry["name"]; });
  EXPECT_GE(seen.size(), 12U);
}

TEST(Describe, EverythingHasADocLine) {
  each_entry([](const Json& entry) {
    EXPECT_TRUE(is_doc(entry["doc"])) << entry["name"];
    EXPECT_EQ(entry["available"].get<bool>(), entry["reason"].is_null()) << entry["name"];
  });
}

TEST(Describe, EveryParameterHasADocAndANameOfItsOwn) {
  each_entry([](const Json& entry) { (void)names_of(entry["parameters"]); });
  int parameters = 0;
  each_parameter([&](const Json& parameter) {
    ++parameters;
    // `segments`, `choice` ... may say it all with their bounds, but never with nothing.
    EXPECT_TRUE(is_doc(parameter["doc"])) << parameter["doc"];
  });
  EXPECT_GE(parameters, 30);
}

TEST(Describe, UnitsAreThoseOfTheType) {
  each_parameter([](const Json& parameter) {
    const std::string type = parameter["type"];
    const std::string wanted = type == "bytes" ? "B" : type == "seconds" ? "s" : type == "rate" ? "B/s" : "";
    EXPECT_EQ(parameter["unit"], wanted);
    EXPECT_EQ(parameter["choices"].empty(), type != "choice" && type != "choices");
  });
}

template <class Entry>
void expect_defaults_pass() {
  for (const auto& entry : Registry<Entry>::instance().all()) {
    const auto values = complete(entry.description.parameters, {}, "");
    EXPECT_TRUE(values.has_value()) << entry.description.name << ": " << to_line(values.error());
  }
}

TEST(Describe, DefaultsSatisfyTheirOwnChecks) {
  expect_defaults_pass<BackendEntry>();
  expect_defaults_pass<WorkloadEntry>();
  expect_defaults_pass<ProbeEntry>();
  expect_defaults_pass<StopRuleEntry>();
}

TEST(Describe, DefaultsSatisfyTheChecksThatSpanParameters) {
  for (const auto& entry : Registry<BackendEntry>::instance().all()) {
    if (!entry.check) continue;
    const auto status = entry.check(complete(entry.description.parameters, {}, "").value(), "");
    EXPECT_TRUE(status.has_value()) << entry.description.name << ": " << to_line(status.error());
  }
  const PlannedLayout four_ranks{.ranks = 4, .nodes = {}, .ranks_per_node = {}};
  for (const auto& entry : Registry<WorkloadEntry>::instance().all()) {
    const Capabilities able{.metadata = true, .views = true, .file_threads = 64};
    const auto status = entry.check(complete(entry.description.parameters, {}, "").value(), able, four_ranks, "");
    EXPECT_TRUE(status.has_value()) << entry.description.name << ": " << to_line(status.error());
  }
}

TEST(Describe, DefaultsSurviveTheDocument) {
  for (const auto& entry : Registry<WorkloadEntry>::instance().all()) {
    const Json described = describe(entry.description.name).value()["workloads"][0];
    Values given;
    for (const Json& parameter : described["parameters"])
      given.emplace(parameter["name"], value_from(parameter["default"], "").value());
    const auto values = complete(entry.description.parameters, given, "");
    ASSERT_TRUE(values.has_value()) << to_line(values.error());
    EXPECT_EQ(*values, complete(entry.description.parameters, {}, "").value());
  }
}

TEST(Describe, NameChoosesThatThingAlone) {
  const auto described = describe("posix");
  ASSERT_TRUE(described.has_value());
  EXPECT_EQ(names_of((*described)["backends"]), std::set<std::string>{"posix"});
  for (const char* kind : {"workloads", "probes", "stop_rules"}) EXPECT_TRUE((*described)[kind].empty()) << kind;
}

TEST(Describe, UnknownNameIsRefusedAndNamed) {
  const auto described = describe("posx");
  ASSERT_FALSE(described.has_value());
  EXPECT_EQ(described.error().kind, ErrorKind::bad_plan);
  EXPECT_EQ(described.error().where, "posx");
}

TEST(Describe, CapabilitiesTellWhatTheBackendIs) {
  EXPECT_EQ(describe("null").value()["backends"][0]["capabilities"], (Json{"views", "file_threads=1024"}));
  EXPECT_EQ(describe("posix").value()["backends"][0]["capabilities"],
            (Json{"path", "data", "metadata", "threads=1024", "file_threads=1024"}));
}

TEST(Describe, WorkWithoutStorageSaysSoFirst) {
  EXPECT_EQ(describe("gemm").value()["workloads"][0]["capabilities"], Json::array({"no-storage"}));
  for (const char* name : {"compute", "stream", "ring"})
    EXPECT_EQ(describe(name).value()["workloads"][0]["capabilities"].at(0), "no-storage") << name;
  EXPECT_EQ(describe("transfer").value()["workloads"][0]["capabilities"], Json::array());
}

TEST(Describe, BuildSaysHowItWasMade) {
  const Json build = describe_build();
  for (const char* key : {"version", "git", "compiler", "flags"})
    EXPECT_FALSE(build[key].get<std::string>().empty()) << key;
  for (const char* key : {"family", "library"}) EXPECT_FALSE(build["mpi"][key].get<std::string>().empty()) << key;
  EXPECT_EQ(build["mpi"]["mpiexec"], build_facts().mpiexec);
  EXPECT_TRUE((*describe(""))["mpi"]["large_counts"].is_boolean());
}

}  // namespace ullage::describe_test
