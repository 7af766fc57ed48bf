// SPDX-License-Identifier: Apache-2.0
// Whole launches in this process: exit codes, what is recorded, what is left behind.
#include "run/session.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "run/test_support.hpp"

namespace ullage::session_test {

/// Catches what is said on std::cerr.
class Cerr final : Pinned {
 public:
  Cerr() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~Cerr() { std::cerr.rdbuf(before_); }
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::streambuf* before_;
};

const std::string first_id = "00000000000000a1";
const std::string second_id = "00000000000000a2";

class MpiSession : public ::testing::Test {
 protected:
  MpiSession() : folder_(world_) {
    if (world_.root()) std::filesystem::create_directory(target());
    world_.all().barrier();
  }

  [[nodiscard]] Json plan(const std::vector<Json>& cases) const {
    return test::small_plan(world_, folder_.path(), cases);
  }
  [[nodiscard]] Json null_plan() const { return plan({test::small_case(first_id, "nowhere", "null")}); }
  [[nodiscard]] Json posix_plan() const { return plan({test::small_case(first_id, "disk", "posix")}); }

  /// Collective; the exit code, which has to be everybody's.
  int run(const Json& plan) {
    const std::string path = folder_.path() + "/plan.json";
    if (world_.root()) test::write_file(path, plan.dump());
    return run_file(path);
  }
  int run_file(const std::string& path) {
    const Cerr cerr;
    const int code = run_plan(path, world_);
    said_ = cerr.text();
    EXPECT_EQ(world_.all().min(code), world_.all().max(code)) << "ranks disagree";
    if (!world_.root()) {
      EXPECT_EQ(said_, "") << "one line, not one a rank";
    }
    world_.all().barrier();
    return code;
  }

  [[nodiscard]] std::string target() const { return folder_.path() + "/target"; }
  [[nodiscard]] std::string run_folder() const { return target() + "/ullage-r1"; }
  [[nodiscard]] bool recorded() const { return std::filesystem::exists(folder_.path() + "/records.ndjson"); }
  /// Every line has to be a record; those of one kind, or all.
  [[nodiscard]] std::vector<Json> records(const std::string& kind = "") const {
    std::vector<Json> chosen;
    std::istringstream lines(test::read_file(folder_.path() + "/records.ndjson"));
    for (std::string line; std::getline(lines, line);) {
      Json record = Json::parse(line, nullptr, false);
      EXPECT_TRUE(record.is_object()) << line;
      if (kind.empty() || record["kind"] == kind) chosen.push_back(std::move(record));
    }
    return chosen;
  }
  [[nodiscard]] Json end() const {
    const auto all = records();
    EXPECT_EQ(records("end").size(), 1U);
    EXPECT_FALSE(all.empty() || all.back()["kind"] != "end") << "the end is the last line";
    return all.empty() ? Json() : all.back();
  }
  [[nodiscard]] std::vector<Json> events(const std::string& code) const {
    auto chosen = records("event");
    std::erase_if(chosen, [&](const Json& event) { return event["code"] != code; });
    return chosen;
  }
  void expect_refused(const Json& plan, int code, const std::string& words) {
    EXPECT_EQ(run(plan), code);
    EXPECT_FALSE(std::filesystem::exists(run_folder())) << "nothing is touched";
    if (!world_.root()) return;
    EXPECT_EQ(std::ranges::count(said_, '\n'), 1) << said_;
    EXPECT_NE(said_.find(words), std::string::npos) << said_;
  }

  test::KeptSignals kept_;
  mpi::World world_;
  test::SharedFolder folder_;
  std::string said_;
};

TEST_F(MpiSession, RecordsOfALaunchAreWholeAndInOrder) {
  EXPECT_EQ(run(null_plan()), exit_code::ok);
  EXPECT_EQ(said_, "");
  const auto all = records();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front()["kind"], "run");
  EXPECT_EQ(all.front()["run_id"], "r1");
  EXPECT_EQ(all.front()["layout"]["ranks"], world_.size());
  EXPECT_EQ(records("run").size(), 1U);
  EXPECT_EQ(records("probe").size(), 1U) << "the node's facts";

  const auto cases = records("case");
  ASSERT_EQ(cases.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(cases[i]["repetition"], i);
    EXPECT_EQ(cases[i]["status"], "ok");
    EXPECT_EQ(cases[i]["workload_parameters"]["order"], "sequential") << "defaults are written out";
  }
  EXPECT_EQ(cases[0]["stop"], "");
  EXPECT_EQ(cases[1]["stop"], "count");
  const auto phases = records("phase");
  ASSERT_EQ(phases.size(), 4U);
  for (const Json& phase : phases) {
    EXPECT_EQ(phase["bytes"], static_cast<std::uint64_t>(world_.size()) * 65536);
    EXPECT_TRUE(phase.contains("grade"));
  }
  EXPECT_EQ(end()["status"], "complete");
  EXPECT_EQ(end()["cases_ok"], 1);
  EXPECT_EQ(end()["cases_failed"], 0);
  EXPECT_EQ(end()["repetitions"], 2);
  EXPECT_GE(end()["elapsed_ns"],
            cases[0]["elapsed_ns"].get<std::int64_t>() + cases[1]["elapsed_ns"].get<std::int64_t>());
}

TEST_F(MpiSession, RealFilesAreVerifiedAndNothingIsLeft) {
  EXPECT_EQ(run(plan({test::small_case(first_id, "disk", "posix", {{"verify", "full"}}),
                      test::small_case(second_id, "disk", "mpiio",
                                       {{"file_mode", "per-process"}, {"directory_per_process", true}})})),
            exit_code::ok);
  EXPECT_TRUE(test::names_in(target()).empty());
  EXPECT_EQ(end()["cases_ok"], 2);
  for (const Json& phase : records("phase")) {
    EXPECT_EQ(phase["status"], "ok");
    if (phase["phase"] == "read") {
      EXPECT_EQ(phase["verified_bytes"], phase["bytes"]);
    }
  }
}

TEST_F(MpiSession, KeepLeavesManifestAndData) {
  Json kept = posix_plan();
  kept["keep"] = true;
  EXPECT_EQ(run(kept), exit_code::ok);
  const std::string data = run_folder() + "/c-" + first_id + "/data";
  EXPECT_NE(test::read_file(run_folder() + "/manifest.ndjson").find(first_id), std::string::npos);
  std::error_code error;
  EXPECT_EQ(std::filesystem::file_size(data, error), static_cast<std::uintmax_t>(world_.size()) * 65536)
      << error.message();
}

TEST_F(MpiSession, WarmupsComeFirstAndDoNotCount) {
  Json warmed = null_plan();
  warmed["warmups"] = 1;
  EXPECT_EQ(run(warmed), exit_code::ok);
  const auto cases = records("case");
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0]["warmup"], true);
  EXPECT_EQ(cases[1]["warmup"], false);
  EXPECT_EQ(cases[2]["stop"], "count");
  EXPECT_EQ(records("phase")[0]["warmup"], true);
}

TEST_F(MpiSession, BadPlanIsOneLineAndTouchesNothing) {
  Json bad = posix_plan();
  bad["cases"][0]["workload"]["parameters"]["transfer_bytes"] = "4K";
  expect_refused(bad, exit_code::bad_plan, "/cases/0/workload/parameters/transfer_bytes: ");
  EXPECT_FALSE(recorded());
}

TEST_F(MpiSession, PlanThatIsNotThereIsABadPlan) {
  EXPECT_EQ(run_file(folder_.path() + "/missing.json"), exit_code::bad_plan);
  if (world_.root()) {
    EXPECT_NE(said_.find("missing.json: cannot be read"), std::string::npos) << said_;
  }
}

TEST_F(MpiSession, LaunchOfAnotherShapeIsRefused) {
  Json other = posix_plan();
  other["layout"]["ranks"] = world_.size() + 1;
  expect_refused(other, exit_code::environment, "/layout/ranks: ");
  other = posix_plan();
  other["layout"]["nodes"] = 2;
  expect_refused(other, exit_code::environment, "/layout/nodes: ");
  other = posix_plan();
  other["layout"]["ranks_per_node"] = world_.size() + 1;
  expect_refused(other, exit_code::environment, "/layout/ranks_per_node: ");
  EXPECT_FALSE(recorded());
}

TEST_F(MpiSession, TargetThatIsMissingOrTooSmallIsRefused) {
  Json missing = posix_plan();
  missing["targets"][0]["uri"] = "posix:" + folder_.path() + "/elsewhere";
  expect_refused(missing, exit_code::environment, "/elsewhere");
  Json small = posix_plan();
  small["limits"]["space_bytes"] = 65535;
  expect_refused(small, exit_code::environment, "needs " + std::to_string(65536 * world_.size()) + " bytes");
}

TEST_F(MpiSession, FolderThatIsNotOursStaysAsItIs) {
  if (world_.root()) {
    std::filesystem::create_directory(run_folder());
    test::write_file(run_folder() + "/thesis.txt", "precious");
  }
  world_.all().barrier();
  EXPECT_EQ(run(posix_plan()), exit_code::environment);
  EXPECT_EQ(test::names_in(run_folder()), std::vector<std::string>{"thesis.txt"});
}

TEST_F(MpiSession, WhatACrashedLaunchOfTheRunLeftIsReplaced) {
  if (world_.root()) {
    const auto crashed = RunFolder::make(target(), "r1");
    ASSERT_TRUE(crashed.has_value());
    const DatasetEntry dataset{first_id, "c-" + first_id, 1, false, false};
    ASSERT_TRUE(crashed->list_dataset(dataset).has_value());
    ASSERT_TRUE(crashed->make_directory(dataset.directory).has_value());
    test::write_file(run_folder() + "/" + dataset.file_name(0), "half of a dataset");
  }
  world_.all().barrier();
  EXPECT_EQ(run(posix_plan()), exit_code::ok);
  EXPECT_TRUE(test::names_in(target()).empty());
}

TEST_F(MpiSession, FailedCaseIsTheLastOfItsKindAndTheOthersGoOn) {
  Json failing = test::small_case(second_id, "disk", "fault");
  failing["backend"]["parameters"] = {{"operation", "write"}, {"kind", "eio"}, {"rank", world_.size() - 1}};
  EXPECT_EQ(run(plan({test::small_case(first_id, "disk", "posix"), failing})), exit_code::case_failed);
  EXPECT_TRUE(test::names_in(target()).empty());
  EXPECT_EQ(end()["status"], "failed");
  EXPECT_EQ(end()["cases_ok"], 1);
  EXPECT_EQ(end()["cases_failed"], 1);
  EXPECT_EQ(end()["repetitions"], 2) << "those that were clean";
  int failed = 0;
  for (const Json& record : records("case")) {
    if (record["case"] == first_id) {
      EXPECT_EQ(record["status"], "ok");
      continue;
    }
    ++failed;
    EXPECT_EQ(record["status"], "failed");
    EXPECT_EQ(record["stop"], "failed");
  }
  EXPECT_EQ(failed, 1) << "a case that failed is not repeated";
}

TEST_F(MpiSession, EarlierLaunchesRepetitionsCount) {
  Json resumed = null_plan();
  resumed["cases"][0]["prior_elapsed_ns"] = {{"write", {1000}}, {"read", {1000}}};
  EXPECT_EQ(run(resumed), exit_code::ok);
  EXPECT_EQ(records("case").size(), 1U);
  EXPECT_EQ(end()["repetitions"], 1);
}

TEST_F(MpiSession, CaseThatHasEnoughIsNotRunAgain) {
  Json finished = null_plan();
  finished["cases"][0]["prior_elapsed_ns"] = {{"write", {1000, 1000}}, {"read", {1000, 1000}}};
  EXPECT_EQ(run(finished), exit_code::ok);
  EXPECT_TRUE(records("phase").empty());
  EXPECT_EQ(end()["status"], "complete");
  EXPECT_EQ(end()["repetitions"], 0);
}

TEST_F(MpiSession, SpentBudgetBeginsNothingAndSaysSo) {
  Json late = null_plan();
  late["time_budget_s"] = 1e-6;
  EXPECT_EQ(run(late), exit_code::ok);
  EXPECT_TRUE(records("case").empty());
  ASSERT_EQ(events("budget").size(), 1U);
  EXPECT_EQ(events("budget")[0]["case"], first_id);
  EXPECT_EQ(end()["status"], "complete");
}

TEST_F(MpiSession, BudgetEndsWhatTheStopRuleWouldNot) {
  Json endless = null_plan();
  endless["stop_rule"]["parameters"]["count"] = 1'000'000;
  endless["time_budget_s"] = 1.5;
  EXPECT_EQ(run(endless), exit_code::ok);
  EXPECT_EQ(events("budget").size(), 1U);
  EXPECT_EQ(end()["repetitions"], records("case").size());
  EXPECT_LT(records("case").size(), 1'000'000U);
}

TEST_F(MpiSession, RequestToStopBeforeTheFirstRepetitionStillWritesTheEnd) {
  if (world_.rank() == world_.size() - 1) StopFlags::instance().request();
  EXPECT_EQ(run(posix_plan()), exit_code::aborted);
  EXPECT_TRUE(records("case").empty());
  EXPECT_EQ(end()["status"], "interrupted");
  EXPECT_TRUE(test::names_in(target()).empty());
}

TEST_F(MpiSession, StopFileEndsTheRunAfterARepetition) {
  std::jthread asks;
  if (world_.root())
    asks = std::jthread([records = folder_.path() + "/records.ndjson"](const std::stop_token& token) {
      while (!token.stop_requested() && test::read_file(records).find(R"("kind":"case")") == std::string::npos)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      test::write_file(records + ".stop", "");
    });
  Json endless = posix_plan();
  endless["stop_rule"]["parameters"]["count"] = 1'000'000;
  endless["time_budget_s"] = 60;
  EXPECT_EQ(run(endless), exit_code::aborted);
  EXPECT_EQ(end()["status"], "interrupted");
  for (const Json& record : records("case")) EXPECT_EQ(record["status"], "ok") << "one request lets it finish";
  EXPECT_TRUE(test::names_in(target()).empty());
}

TEST_F(MpiSession, MarkersOfAnEarlierLaunchDoNotConcernThisOne) {
  const std::string marker = folder_.path() + "/records.ndjson";
  if (world_.root()) {
    test::write_file(marker + ".stop", "");
    test::write_file(marker + ".timeout", "");
  }
  world_.all().barrier();
  EXPECT_EQ(run(null_plan()), exit_code::ok);
  EXPECT_FALSE(std::filesystem::exists(marker + ".stop"));
  EXPECT_FALSE(std::filesystem::exists(marker + ".timeout")) << "the next hang could not be written down";
}

TEST_F(MpiSession, RecordsThatCannotBeOpenedAreRefusedBeforeAnythingIsMade) {
  Json nowhere = posix_plan();
  nowhere["records"] = folder_.path() + "/missing/records.ndjson";
  expect_refused(nowhere, exit_code::environment, "/missing/records.ndjson");
}

TEST_F(MpiSession, RecordsThatAreLostAreNoSuccess) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  Json full = null_plan();
  full["records"] = "/dev/full";
  EXPECT_EQ(run(full), exit_code::environment);
  if (world_.root()) {
    EXPECT_NE(said_.find("write records /dev/full"), std::string::npos) << said_;
  }
}

TEST_F(MpiSession, SecondLaunchOfARunAppends) {
  EXPECT_EQ(run(null_plan()), exit_code::ok);
  EXPECT_EQ(run(null_plan()), exit_code::ok);
  EXPECT_EQ(records("run").size(), 2U);
  EXPECT_EQ(records("end").size(), 2U);
}

}  // namespace ullage::session_test
