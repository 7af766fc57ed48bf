// SPDX-License-Identifier: Apache-2.0
// What the tests of workloads that mix operations share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "run/session.hpp"
#include "run/test_support.hpp"

namespace ullage::test {

/// Whole launches of plans with a target `disk`, listed cases and one repetition of each.
class Launches : public ::testing::Test {
 protected:
  Launches() : folder_(world_) {
    if (world_.root()) std::filesystem::create_directory(folder_.path() + "/target");
    world_.all().barrier();
  }

  [[nodiscard]] Json case_of(const std::string& workload, const std::string& dataset, Json parameters,
                             const std::string& backend = "posix", const Json& of_backend = Json::object()) {
    return {{"id", "00000000000000" + std::to_string(10 + cases_++)},
            {"target", "disk"},
            {"dataset", dataset},
            {"backend", {{"name", backend}, {"parameters", of_backend}}},
            {"workload", {{"name", workload}, {"parameters", std::move(parameters)}}}};
  }
  [[nodiscard]] Json plan(const std::vector<Json>& cases) const {
    Json plan = small_plan(world_, folder_.path(), cases);
    plan["order"] = "listed";
    plan["stop_rule"] = {{"name", "fixed"}, {"parameters", {{"count", 1}}}};
    return plan;
  }
  /// Collective.
  int run(const Json& plan) {
    const std::string path = folder_.path() + "/plan.json";
    if (world_.root()) {
      std::filesystem::remove(records());
      write_file(path, plan.dump());
    }
    world_.all().barrier();
    const int code = run_plan(path, world_);
    world_.all().barrier();
    return code;
  }
  int run_cases(const std::vector<Json>& cases) { return run(plan(cases)); }
  /// Rank 0 alone, in the order they were written.
  [[nodiscard]] std::vector<Json> phases(const std::string& name) const {
    std::vector<Json> found;
    std::istringstream lines(read_file(records()));
    for (std::string line; std::getline(lines, line);) {
      Json record = Json::parse(line);
      if (record["kind"] == "phase" && record["phase"] == name) found.push_back(std::move(record));
    }
    return found;
  }
  [[nodiscard]] Json phase(const std::string& name) const {
    const auto found = phases(name);
    if (!found.empty()) return found.front();
    ADD_FAILURE() << "no phase " << name << " in " << read_file(records());
    return Json::object();
  }
  [[nodiscard]] std::string records() const { return folder_.path() + "/records.ndjson"; }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world_.size()); }
  [[nodiscard]] std::string run_folder() const { return folder_.path() + "/target/ullage-r1"; }
  void expect_nothing_left() const {
    world_.all().barrier();
    EXPECT_FALSE(std::filesystem::exists(run_folder()));
    world_.all().barrier();
  }

  KeptSignals kept_;
  mpi::World world_;
  SharedFolder folder_;

 private:
  int cases_ = 0;
};

}  // namespace ullage::test
