// SPDX-License-Identifier: Apache-2.0
// Whole launches of workload `metadata`: every phase counts every item, datasets go from case to case, and what is
// wrong with them is found.
#include <gtest/gtest.h>

#include "run/session.hpp"
#include "run/test_support.hpp"

namespace ullage::metadata_workload_test {

namespace fs = std::filesystem;

class MpiMetadata : public ::testing::Test {
 protected:
  MpiMetadata() : folder_(world_) {
    if (world_.root()) fs::create_directory(folder_.path() + "/target");
    world_.all().barrier();
  }

  /// A case on a dataset of that name; "": one of its own.
  [[nodiscard]] Json metadata(const std::string& dataset, Json parameters) {
    parameters.emplace("items", items);
    return {{"id", "00000000000000" + std::to_string(10 + cases_++)},
            {"target", "disk"},
            {"dataset", dataset},
            {"backend", {{"name", "posix"}}},
            {"workload", {{"name", "metadata"}, {"parameters", std::move(parameters)}}}};
  }
  [[nodiscard]] Json plan(const std::vector<Json>& cases) const {
    Json plan = test::small_plan(world_, folder_.path(), cases);
    plan["order"] = "listed";
    plan["seed"] = seed_;
    plan["stop_rule"] = {{"name", "fixed"}, {"parameters", {{"count", 1}}}};
    return plan;
  }
  /// Collective.
  int run(const Json& plan) {
    const std::string path = folder_.path() + "/plan.json";
    if (world_.root()) {
      fs::remove(folder_.path() + "/records.ndjson");
      test::write_file(path, plan.dump());
    }
    world_.all().barrier();
    const int code = run_plan(path, world_);
    world_.all().barrier();
    return code;
  }
  [[nodiscard]] Json phase(const std::string& name) const {
    std::istringstream lines(test::read_file(folder_.path() + "/records.ndjson"));
    for (std::string line; std::getline(lines, line);) {
      Json record = Json::parse(line);
      if (record["kind"] == "phase" && record["phase"] == name) return record;
    }
    ADD_FAILURE() << "no phase " << name;
    return {};
  }
  [[nodiscard]] std::uint64_t operations(const std::string& name) const { return phase(name)["operations"]; }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(world_.size()); }
  [[nodiscard]] std::string run_folder() const { return folder_.path() + "/target/ullage-r1"; }
  /// A file of dataset `name` that rank 0 made in a tree without sub-directories, shared by all.
  [[nodiscard]] std::string file_of(const std::string& name, int item) const {
    return run_folder() + "/" + directory_of_dataset(name) + "/mdtest_tree.0.0/file.mdtest.0." + std::to_string(item);
  }
  void expect_nothing_left() {
    world_.all().barrier();
    EXPECT_FALSE(fs::exists(run_folder()));
    world_.all().barrier();
  }

  static constexpr int items = 50;
  test::KeptSignals kept_;
  mpi::World world_;
  test::SharedFolder folder_;
  int cases_ = 0;
  int seed_ = 7;
};

TEST_F(MpiMetadata, EveryPhaseCountsEveryItem) {
  for (const bool unique : {false, true}) {
    const Json parameters{{"phases",
                           {"tree-create", "create", "stat", "read", "rename", "readdir", "chmod", "open", "truncate",
                            "unlink", "tree-remove"}},
                          {"unique_directory", unique},
                          {"depth", 1},
                          {"branching", 2},
                          {"write_bytes", 3901},
                          {"read_bytes", 3901},
                          {"stride", 1},
                          {"order", "random"},
                          {"sync", unique ? "directory" : "filesystem"}};
    ASSERT_EQ(run(plan({metadata("", parameters)})), exit_code::ok);
    if (world_.root()) {
      const std::uint64_t trees = unique ? ranks() : 1;
      for (const char* over_items : {"create", "stat", "read", "rename", "chmod", "open", "truncate", "unlink"})
        EXPECT_EQ(operations(over_items), items * ranks()) << over_items;
      for (const char* over_directories : {"tree-create", "readdir", "tree-remove"})
        EXPECT_EQ(operations(over_directories), 3 * trees) << over_directories;
      EXPECT_EQ(phase("read")["verified_bytes"], 3901U * items * ranks());
      // One in 32 short operations is looked into.
      EXPECT_GE(phase("create")["latency_parts"]["close"]["operations"].get<int>() * 32, items * ranks());
      EXPECT_LE(phase("create")["latency_parts"]["close"]["operations"], items * ranks());
      EXPECT_TRUE(phase("create")["stages"].contains("sync"));
      EXPECT_FALSE(phase("stat")["stages"].contains("sync"));
      EXPECT_EQ(phase("stat")["data_of"], ranks() > 1 ? "other-rank" : "own");
    }
    expect_nothing_left();
  }
}

/// Names are made before the timer, and what is read is checked after it.
TEST_F(MpiMetadata, NothingIsPreparedOrCheckedInTheTime) {
  const Json parameters{
      {"phases", {"tree-create", "create", "stat", "read", "rename", "chmod", "unlink", "tree-remove"}},
      {"items", 2000},
      {"depth", 1},
      {"branching", 2},
      {"write_bytes", 100},
      {"read_bytes", 100}};
  ASSERT_EQ(run(plan({metadata("", parameters)})), exit_code::ok);
  if (world_.root()) {
    for (const char* name : {"create", "stat", "read", "rename", "chmod", "unlink"})
      EXPECT_EQ(phase(name)["prepare_ns"], 0) << name;
    EXPECT_EQ(phase("read")["verified_bytes"], 100U * 2000 * ranks());
  }
  expect_nothing_left();
}

TEST_F(MpiMetadata, CheckingInTheTimeIsSaidWhereItIsAskedFor) {
  for (const char* verify : {"timed", "full", "none"}) {
    const Json parameters{{"phases", {"tree-create", "create", "read", "unlink", "tree-remove"}},
                          {"write_bytes", 3901},
                          {"read_bytes", 3901},
                          {"verify", verify}};
    ASSERT_EQ(run(plan({metadata("", parameters)})), exit_code::ok);
    if (world_.root()) {
      const bool said =
          test::read_file(folder_.path() + "/records.ndjson").find("verified-in-time") != std::string::npos;
      EXPECT_EQ(said, std::string(verify) == "timed") << verify;
      EXPECT_EQ(phase("read")["verified_bytes"], std::string(verify) == "none" ? 0 : 3901U * items * ranks());
    }
    expect_nothing_left();
  }
}

TEST_F(MpiMetadata, DirectoriesAreItemsToo) {
  const Json parameters{{"phases", {"tree-create", "mkdir", "stat", "rename", "rmdir", "tree-remove"}},
                        {"item", "directory"}};
  ASSERT_EQ(run(plan({metadata("", parameters)})), exit_code::ok);
  if (world_.root()) {
    for (const char* name : {"mkdir", "stat", "rename", "rmdir"}) EXPECT_EQ(operations(name), items * ranks()) << name;
  }
  expect_nothing_left();
}

TEST_F(MpiMetadata, WhatAPhaseLeavesIsRemovedAtTheEndOfTheCase) {
  ASSERT_EQ(run(plan({metadata("", {{"phases", {"tree-create", "create"}}, {"depth", 2}, {"branching", 3}})})),
            exit_code::ok);
  expect_nothing_left();
}

TEST_F(MpiMetadata, NamedDatasetGoesFromCaseToCaseAndLaunchToLaunch) {
  Json first =
      plan({metadata("hard", {{"phases", {"tree-create", "create"}}}), metadata("hard", {{"phases", {"rename"}}})});
  first["keep"] = true;
  ASSERT_EQ(run(first), exit_code::ok);
  Json second =
      plan({metadata("hard", {{"phases", {"stat"}}}), metadata("hard", {{"phases", {"unlink", "tree-remove"}}})});
  second["continues"] = true;
  ASSERT_EQ(run(second), exit_code::ok);
  if (world_.root()) {
    EXPECT_EQ(operations("stat"), items * ranks());
    EXPECT_EQ(operations("unlink"), items * ranks());
  }
  expect_nothing_left();
}

TEST_F(MpiMetadata, LaunchThatDoesNotGoOnBeginsAfresh) {
  Json first = plan({metadata("hard", {{"phases", {"tree-create", "create"}}})});
  first["keep"] = true;
  ASSERT_EQ(run(first), exit_code::ok);
  ASSERT_EQ(run(plan({metadata("hard", {{"phases", {"stat"}}})})), exit_code::case_failed);
  expect_nothing_left();
}

TEST_F(MpiMetadata, DatasetHasToBeThereAndToBeTheSame) {
  ASSERT_EQ(run(plan({metadata("hard", {{"phases", {"stat"}}})})), exit_code::case_failed);
  if (world_.root()) {
    EXPECT_NE(test::read_file(folder_.path() + "/records.ndjson")
                  .find("dataset 'hard': is not there; first run the case that makes it"),
              std::string::npos);
  }
  ASSERT_EQ(run(plan({metadata("hard", {{"phases", {"tree-create", "create"}}}),
                      metadata("hard", {{"phases", {"stat"}}, {"depth", 1}})})),
            exit_code::case_failed);
  expect_nothing_left();
}

TEST_F(MpiMetadata, PhasesWithoutTheirDatasetAreABadPlan) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run(plan({metadata("", {{"phases", {"stat"}}})})), exit_code::bad_plan);
  const std::string said = testing::internal::GetCapturedStderr();
  if (world_.root()) {
    EXPECT_NE(said.find("/cases/0/dataset"), std::string::npos) << said;
  }
}

/// Makes what a later launch meets when somebody changed the files in between.
class MpiMetadataBetween : public MpiMetadata {
 protected:
  template <class Change>
  int run_changed(const std::string& phase_name, const Change& change, const std::string& verify = "full") {
    Json first = plan({metadata("hard", contents({"tree-create", "create"}, verify))});
    first["keep"] = true;
    EXPECT_EQ(run(first), exit_code::ok);
    if (world_.root()) change();
    world_.all().barrier();
    Json second = plan({metadata("hard", contents({phase_name}, verify))});
    second["continues"] = true;
    return run(second);
  }
  void expect_bad(std::uint64_t files, int first, std::uint64_t offset_bytes) {
    if (!world_.root()) return;
    const Json record = phase("read");
    EXPECT_EQ(record["status"], "failed");
    EXPECT_EQ(record["bad_blocks"], files);
    ASSERT_GE(record["failures"].size(), 1U);
    EXPECT_EQ(record["failures"][0]["path"], file_of("hard", first));
    EXPECT_EQ(record["failures"][0]["offset_bytes"], offset_bytes);
  }

 private:
  static Json contents(const std::vector<std::string>& phases, const std::string& verify) {
    return {{"phases", phases}, {"write_bytes", 3901}, {"read_bytes", 3901}, {"verify", verify}};
  }
};

TEST_F(MpiMetadataBetween, OneWrongByteIsFoundAndNamed) {
  for (const char* verify : {"full", "timed"}) {
    const int code = run_changed(
        "read",
        [&] {
          std::string text = test::read_file(file_of("hard", 7));
          text[3000] = static_cast<char>(text[3000] + 1);
          test::write_file(file_of("hard", 7), text);
        },
        verify);
    EXPECT_EQ(code, exit_code::case_failed) << verify;
    expect_bad(1, 7, 3000);
    expect_nothing_left();
  }
}

TEST_F(MpiMetadataBetween, FilesThatChangedPlacesAreFound) {
  const int code = run_changed("read", [&] {
    fs::rename(file_of("hard", 11), file_of("hard", 11) + ".other");
    fs::rename(file_of("hard", 40), file_of("hard", 11));
    fs::rename(file_of("hard", 11) + ".other", file_of("hard", 40));
  });
  EXPECT_EQ(code, exit_code::case_failed);
  expect_bad(2, 11, 0);
  expect_nothing_left();
}

TEST_F(MpiMetadataBetween, HoleIsFound) {
  const int code = run_changed("read", [&] {
    fs::resize_file(file_of("hard", 5), 1024);
    fs::resize_file(file_of("hard", 5), 3901);
  });
  EXPECT_EQ(code, exit_code::case_failed);
  expect_bad(1, 5, 1024);
  expect_nothing_left();
}

/// What stood there under the same name, of a run with another key.
TEST_F(MpiMetadataBetween, StaleFileIsFound) {
  std::string stale;
  ASSERT_EQ(run_changed("read", [&] { stale = test::read_file(file_of("hard", 3)); }), exit_code::ok);
  expect_nothing_left();
  ++seed_;
  const int code = run_changed("read", [&] { test::write_file(file_of("hard", 3), stale); });
  EXPECT_EQ(code, exit_code::case_failed);
  expect_bad(1, 3, 0);
  expect_nothing_left();
}

TEST_F(MpiMetadataBetween, ShortFileFailsTheRead) {
  const int code = run_changed("read", [&] { fs::resize_file(file_of("hard", 5), 3900); });
  EXPECT_EQ(code, exit_code::case_failed);
  if (world_.root()) {
    EXPECT_EQ(phase("read")["failures"][0]["path"], file_of("hard", 5));
  }
  expect_nothing_left();
}

TEST_F(MpiMetadataBetween, DatasetThatFailedItsReadIsStillThereToBeRemoved) {
  Json first = plan({metadata("hard", {{"phases", {"tree-create", "create"}}}),
                     metadata("hard", {{"phases", {"stat"}}, {"stride", 0}, {"order_seed", 2}})});
  first["keep"] = true;
  ASSERT_EQ(run(first), exit_code::ok);
  if (world_.root()) fs::remove(file_of("hard", 3));
  world_.all().barrier();
  Json second = plan({metadata("hard", {{"phases", {"stat"}}}), metadata("hard", {{"phases", {"readdir"}}})});
  second["continues"] = true;
  ASSERT_EQ(run(second), exit_code::case_failed);
  if (world_.root()) {
    EXPECT_EQ(phase("stat")["status"], "failed");
    EXPECT_EQ(phase("readdir")["status"], "ok");
  }
  expect_nothing_left();
}

TEST_F(MpiMetadataBetween, FileThatIsGoneFailsTheStat) {
  const int code = run_changed("stat", [&] {
    for (int i = 0; i < items; i += 2) fs::remove(file_of("hard", i));
  });
  EXPECT_EQ(code, exit_code::case_failed);
  if (world_.root()) {
    EXPECT_EQ(phase("stat")["failures"][0]["errno"], ENOENT);
    EXPECT_LT(operations("stat"), items * ranks()) << "a failed stat counts as nothing";
  }
  expect_nothing_left();
}

TEST_F(MpiMetadata, StonewallLeavesEveryRankAsManyItems) {
  for (const bool wear_out : {false, true}) {
    const Json wall{
        {"phases", {"tree-create", "create"}}, {"items", 1'000'000}, {"stonewall_s", 0.05}, {"wear_out", wear_out}};
    Json rest{{"phases", {"stat", "unlink", "tree-remove"}}, {"items", 1'000'000}};
    Json whole = plan({metadata("easy", wall), metadata("easy", rest)});
    whole["limits"]["space_fraction"] = 1;
    const int code = run(whole);
    if (code == exit_code::environment) GTEST_SKIP() << "too few inodes here";
    ASSERT_EQ(code, exit_code::ok);
    if (world_.root()) {
      const Json created = phase("create");
      EXPECT_GT(created["operations"], 0U);
      EXPECT_EQ(operations("stat") % ranks(), 0U);
      EXPECT_EQ(operations("stat"), operations("unlink"));
      EXPECT_LE(operations("stat"), created["operations"].get<std::uint64_t>());
      if (wear_out) {
        EXPECT_EQ(operations("stat"), created["operations"]);
      }
    }
    expect_nothing_left();
  }
}

}  // namespace ullage::metadata_workload_test
