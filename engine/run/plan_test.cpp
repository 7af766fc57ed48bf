// SPDX-License-Identifier: Apache-2.0
#include "run/plan.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/json.hpp"

namespace ullage::plan_test {

Json good_plan() {
  return Json::parse(R"({
    "schema": "ullage.plan/1", "run_id": "r1", "suite": "sweep", "records": "/tmp/r.ndjson", "seed": 7,
    "layout": {"ranks": 2, "nodes": null},
    "targets": [{"name": "a", "uri": "posix:/tmp"}, {"name": "n", "uri": "null:"}],
    "stop_rule": {"name": "fixed", "parameters": {"count": 2}},
    "cases": [
      {"id": "0123456789abcdef", "target": "a", "backend": {"name": "posix"},
       "workload": {"name": "transfer", "parameters": {"transfer_bytes": 4096, "block_bytes": 8192}}},
      {"id": "0123456789abcde0", "target": "n", "backend": {"name": "null", "parameters": {}},
       "workload": {"name": "transfer", "parameters": {"verify": "none"}}, "prior_elapsed_ns": {"write": [5, 6]}}]})");
}

std::string pointer_of(const Json& plan) {
  const auto parsed = parse_plan(plan.dump());
  EXPECT_FALSE(parsed.has_value());
  if (parsed) return "(accepted)";
  EXPECT_EQ(parsed.error().kind, ErrorKind::bad_plan);
  EXPECT_FALSE(parsed.error().text.empty());
  return parsed.error().where;
}

/// The good plan with one member set or, when `value` is discarded, erased.
std::string pointer_with(const std::string& pointer, const Json& value) {
  Json plan = good_plan();
  plan[Json::json_pointer(pointer)] = value;
  return pointer_of(plan);
}

TEST(Plan, GoodPlanIsUnderstoodCompletely) {
  const auto plan = parse_plan(good_plan().dump());
  ASSERT_TRUE(plan.has_value()) << to_line(plan.error());
  EXPECT_EQ(plan->layout.ranks, 2);
  EXPECT_FALSE(plan->layout.nodes.has_value());
  EXPECT_EQ(plan->targets[0].scheme, "posix");
  EXPECT_EQ(plan->targets[0].path, "/tmp");
  EXPECT_EQ(std::get<std::int64_t>(plan->cases[0].workload.values.at("transfer_bytes")), 4096);
  EXPECT_EQ(std::get<std::string>(plan->cases[0].workload.values.at("order")), "sequential")
      << "defaults are filled in";
  EXPECT_EQ(plan->cases[1].prior_elapsed_ns.at("write").size(), 2U);
  EXPECT_EQ(plan->limits.reserve_bytes, 1ULL << 30);
  EXPECT_TRUE(plan->prepared.empty());
}

TEST(Plan, NeedsOfCasesAreThoseOfTheirWorkloads) {
  const auto needs = needs_of_cases(R"([
    {"layout": {"ranks": 3}, "workload": {"name": "transfer", "parameters": {"file_mode": "per-process",
     "transfer_bytes": 8, "block_bytes": 16, "read_back": "own"}}},
    {"layout": {"ranks": 2}, "workload": {"name": "stepfile", "parameters": {"steps": 5, "state_bytes": 4097,
     "layout": "flat"}}},
    {"layout": {"ranks": 2}, "workload": {"name": "tile"}}])");
  ASSERT_TRUE(needs.has_value()) << to_line(needs.error());
  EXPECT_EQ((*needs)[0], (Json{{"bytes", 48}, {"inodes", 3}, {"one_folder", false}}));
  EXPECT_EQ((*needs)[1], (Json{{"bytes", 2 * 5 * 8192}, {"inodes", 10}, {"one_folder", false}}));
  EXPECT_EQ((*needs)[2]["one_folder"], true);
}

TEST(Plan, MistakesInCasesAreNamedByTheirPointer) {
  const auto where = [](const std::string& text) { return needs_of_cases(text).error().where; };
  EXPECT_EQ(where("{}"), "/");
  EXPECT_EQ(where("[]"), "");
  EXPECT_EQ(where(R"([{"layout": {"ranks": 1}}])"), "/0/workload");
  EXPECT_EQ(where(R"([{"layout": {"ranks": 0}, "workload": {"name": "sar"}}])"), "/0/layout/ranks");
  EXPECT_EQ(where(R"([{"layout": {"ranks": 1}, "workload": {"name": "sars"}}])"), "/0/workload/name");
}

TEST(Plan, PreparedDatasetsAreNames) {
  Json json = good_plan();
  json["prepared"] = {"ior-easy", "mdtest_hard"};
  const auto plan = parse_plan(json.dump());
  ASSERT_TRUE(plan.has_value()) << to_line(plan.error());
  EXPECT_EQ(plan->prepared, (std::vector<std::string>{"ior-easy", "mdtest_hard"}));
  for (const Json& wrong : {Json("ior-easy"), Json{"../x"}, Json{""}, Json{"a/b"}, Json{1}})
    EXPECT_EQ(pointer_with("/prepared", wrong), "/prepared") << wrong;
}

/// A good plan with a case whose states may go on to `b`.
Json spilling_plan(const Json& spill) {
  Json json = good_plan();
  json["targets"].push_back({{"name", "b"}, {"uri", "posix:/b"}});
  Json& planned = json["cases"][0];
  planned["workload"] = {{"name", "stepfile"}, {"parameters", Json::object()}};
  planned["dataset"] = "";
  planned["spill"] = spill;
  return json;
}

TEST(Plan, FurtherTargetsAreOthersWithAPath) {
  const auto plan = parse_plan(spilling_plan({"b"}).dump());
  ASSERT_TRUE(plan.has_value()) << to_line(plan.error());
  EXPECT_EQ(plan->cases[0].spill, std::vector<std::string>{"b"});
  EXPECT_TRUE(Plan::may_lie_at(plan->cases[0], "b"));
  EXPECT_FALSE(Plan::may_lie_at(plan->cases[1], "b"));
  const auto pointer = [](const Json& json) {
    const auto parsed = parse_plan(json.dump());
    return parsed ? std::string() : parsed.error().where;
  };
  EXPECT_EQ(pointer(spilling_plan({"x"})), "/cases/0/spill/0") << "no such target";
  EXPECT_EQ(pointer(spilling_plan({"n"})), "/cases/0/spill/0") << "has no path";
  EXPECT_EQ(pointer(spilling_plan({"b", "a"})), "/cases/0/spill/1") << "the case's own";
  EXPECT_EQ(pointer(spilling_plan({"b", "b"})), "/cases/0/spill/1");
  EXPECT_EQ(pointer(spilling_plan("b")), "/cases/0/spill");
  EXPECT_EQ(pointer(spilling_plan({1})), "/cases/0/spill");
  Json log = spilling_plan({"b"});
  log["cases"][0]["workload"]["parameters"]["layout"] = "log";
  EXPECT_EQ(pointer(log), "/cases/0/spill");
  Json kept = spilling_plan({"b"});
  kept["keep"] = true;
  EXPECT_EQ(pointer(kept), "/cases/0/spill");
  Json transfer = spilling_plan({"b"});
  transfer["cases"][0]["workload"] = good_plan()["cases"][0]["workload"];
  EXPECT_EQ(pointer(transfer), "/cases/0/spill");
}

TEST(Plan, EveryMistakeIsNamedByItsPointer) {
  EXPECT_EQ(pointer_with("/schema", "ullage.plan/2"), "/schema");
  EXPECT_EQ(pointer_with("/extra", 1), "/extra");
  EXPECT_EQ(pointer_with("/run_id", "../x"), "/run_id");
  EXPECT_EQ(pointer_with("/layout/ranks", 0), "/layout/ranks");
  EXPECT_EQ(pointer_with("/layout/rank", 1), "/layout/rank");
  EXPECT_EQ(pointer_with("/layout/binding", "socket"), "/layout/binding");
  EXPECT_EQ(pointer_with("/targets/0/uri", "relative"), "/targets/0/uri");
  EXPECT_EQ(pointer_with("/targets/0/uri", "posix:relative"), "/targets/0/uri");
  EXPECT_EQ(pointer_with("/targets/1/name", "a"), "/targets/1/name");
  EXPECT_EQ(pointer_with("/stop_rule/name", "never"), "/stop_rule/name");
  EXPECT_EQ(pointer_with("/stop_rule/parameters/count", 0), "/stop_rule/parameters/count");
  EXPECT_EQ(pointer_with("/cases/0/id", "xyz"), "/cases/0/id");
  EXPECT_EQ(pointer_with("/cases/1/id", "0123456789abcdef"), "/cases/1/id");
  EXPECT_EQ(pointer_with("/cases/0/target", "b"), "/cases/0/target");
  EXPECT_EQ(pointer_with("/cases/0/target", "n"), "/cases/0/target") << "posix needs a path";
  EXPECT_EQ(pointer_with("/cases/0/backend/name", "posx"), "/cases/0/backend/name");
  EXPECT_EQ(pointer_with("/cases/0/backend/parameters", Json{{"drect", true}}), "/cases/0/backend/parameters/drect");
  EXPECT_EQ(pointer_with("/cases/0/workload/parameters/transfer_bytes", "4K"),
            "/cases/0/workload/parameters/transfer_bytes");
  EXPECT_EQ(pointer_with("/cases/0/workload/parameters/block_bytes", 5000), "/cases/0/workload/parameters/block_bytes");
  EXPECT_EQ(pointer_with("/cases/0/workload/parameters/queue_depth", 2), "/cases/0/workload/parameters/queue_depth");
  EXPECT_EQ(pointer_with("/cases/1/workload/parameters/verify", "full"), "/cases/1/workload/parameters/verify");
  EXPECT_EQ(pointer_with("/cases/1/prior_elapsed_ns", Json{{"write", {1, 0}}}), "/cases/1/prior_elapsed_ns/write/1");
  EXPECT_EQ(pointer_with("/cases", Json::array()), "/cases");
  EXPECT_EQ(pointer_with("/time_budget_s", 0), "/time_budget_s");
  EXPECT_EQ(pointer_with("/limits", Json{{"space_fraction", 2}}), "/limits/space_fraction");
}

TEST(Plan, TextThatIsNotJsonIsRefused) {
  EXPECT_EQ(parse_plan("").error().where, "/");
  EXPECT_EQ(parse_plan("{\"schema\":").error().where, "/");
  EXPECT_EQ(parse_plan("[]").error().kind, ErrorKind::bad_plan);
}

RC_GTEST_PROP(Plan, MissingAnyRequiredMemberIsRefused, ()) {
  const auto key =
      *rc::gen::element<std::string>("schema", "run_id", "suite", "records", "layout", "targets", "stop_rule", "cases");
  Json plan = good_plan();
  plan.erase(key);
  const auto parsed = parse_plan(plan.dump());
  RC_ASSERT(!parsed.has_value());
  RC_ASSERT(parsed.error().where == "/" + key);
}

RC_GTEST_PROP(Plan, DamagedTextNeverCrashesTheParser, ()) {
  std::string text = good_plan().dump();
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text[at] = *rc::gen::arbitrary<char>();
  const auto cut = *rc::gen::inRange<std::size_t>(0, text.size());
  (void)parse_plan(text);
  (void)parse_plan(text.substr(0, cut));
}

}  // namespace ullage::plan_test
