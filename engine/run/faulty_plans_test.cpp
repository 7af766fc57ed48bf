// SPDX-License-Identifier: Apache-2.0
// Whole launches of what IO500 is made of, with calls of one rank going wrong: what fails is the case it befell.
#include <gtest/gtest.h>

#include "storage/workloads/mixed_test_support.hpp"

namespace ullage::faulty_plans_test {

class MpiFaultyPlans : public test::Launches {
 protected:
  /// The last rank suffers it once.
  [[nodiscard]] Json fault(const std::string& operation, const std::string& kind = "eio", int after = 0) const {
    return {{"operation", operation}, {"kind", kind}, {"rank", world_.size() - 1}, {"after", after}};
  }
  [[nodiscard]] Json faulty(const std::string& workload, const std::string& dataset, const Json& parameters,
                            const Json& of_fault) {
    return case_of(workload, dataset, parameters, "fault", of_fault);
  }
  /// Collective: the launch ends with failed cases, and this phase is the one that failed, on the last rank.
  void expect_failure(const std::vector<Json>& cases, const std::string& phase_name, const std::string& operation,
                      int errno_value) {
    EXPECT_EQ(run_cases(cases), exit_code::case_failed);
    expect_nothing_left();
    if (!world_.root()) return;
    Json failed = Json::object();
    for (const Json& record : phases(phase_name))
      if (record["status"] == "failed") failed = record;
    ASSERT_EQ(failed["failures"].size(), 1U) << failed;
    EXPECT_EQ(failed["failures"][0]["rank"], world_.size() - 1);
    EXPECT_EQ(failed["failures"][0]["operation"], operation);
    EXPECT_EQ(failed["failures"][0]["errno"], errno_value);
    EXPECT_EQ(phases("write").back()["status"], "ok") << "the plan has gone on";
  }
  [[nodiscard]] Json good() { return case_of("transfer", "", {{"transfer_bytes", 4096}, {"block_bytes", 65536}}); }
};

const Json five_items{{"items", 5}};

Json tree(std::initializer_list<const char*> phases, const Json& more = Json::object()) {
  Json parameters = five_items;
  parameters["phases"] = Json::array();
  for (const char* phase : phases) parameters["phases"].push_back(phase);
  parameters.update(more);
  return parameters;
}

TEST_F(MpiFaultyPlans, EveryOperationOfMetadataCanFail) {
  const std::vector<std::pair<const char*, const char*>> all{
      {"create", "create"}, {"stat", "stat"}, {"rename", "rename"}, {"readdir", "readdir"}, {"unlink", "remove"}};
  for (const auto& [phase_name, operation] : all)
    expect_failure({faulty("metadata", "",
                           tree({"tree-create", "create", "stat", "rename", "readdir", "unlink", "tree-remove"},
                                {{"unique_directory", true}}),
                           fault(operation)),
                    good()},
                   phase_name, operation, EIO);
}

TEST_F(MpiFaultyPlans, TreeThatOneRankCannotMakeFails) {
  expect_failure({faulty("metadata", "", tree({"tree-create", "create"}, {{"unique_directory", true}}),
                         fault("mkdir", "edquot", world_.size() == 1 ? 1 : 0)),
                  good()},
                 "tree-create", "mkdir", EDQUOT);
}

TEST_F(MpiFaultyPlans, MixedMetadataFailsInItsBench) {
  expect_failure({faulty("mixed-metadata", "", {{"sets", 2}, {"objects", 5}}, fault("stat")), good()}, "bench", "stat",
                 EIO);
}

TEST_F(MpiFaultyPlans, FindWalksWhatAFailedCaseHasLeft) {
  // The dataset of a case that failed is gone, and what the case before it left is walked as ever.
  const Json walk{{"phases", {"timestamp", "find"}}};
  expect_failure({case_of("metadata", "kept", tree({"tree-create", "create"})),
                  faulty("metadata", "lost", tree({"tree-create", "create"}), fault("create", "enospc")),
                  faulty("find", "", walk, fault("read")), good()},
                 "create", "create", ENOSPC);
  if (!world_.root()) return;
  const Json found = phase("find");
  EXPECT_EQ(found.value("status", ""), "ok") << found;
  EXPECT_GE(found["counters"]["scanned"].get<std::uint64_t>(), 5 * ranks());
}

TEST_F(MpiFaultyPlans, OnePhaseOfIo500FailsAndTheOthersAreMeasured) {
  const Json easy{{"file_mode", "per-process"}, {"transfer_bytes", 65536}, {"block_bytes", 262144}};
  const Json hard{{"file_mode", "shared"}, {"transfer_bytes", 47008}, {"block_bytes", 47008}, {"segments", 4}};
  const auto with = [](Json parameters, const char* phase_name) {
    parameters["phases"] = {phase_name};
    return parameters;
  };
  const Json sound{{"kind", "delay"}, {"delay_s", 0}, {"operation", "stat"}};
  ASSERT_EQ(
      run_cases(
          {faulty("transfer", "ior-easy", with(easy, "write"), sound),
           faulty("metadata", "mdtest-easy", tree({"tree-create", "create"}), sound),
           faulty("transfer", "ior-hard", with(hard, "write"), sound),
           faulty("metadata", "mdtest-hard", tree({"tree-create", "create"}, {{"write_bytes", 3901}}), sound),
           faulty("find", "", {{"phases", {"find"}}, {"within", "mdtest-hard"}}, sound),
           faulty("transfer", "ior-easy", with(easy, "read"), sound),
           faulty("metadata", "mdtest-easy", tree({"stat"}), sound),
           faulty("transfer", "ior-hard", with(hard, "read"), sound),
           faulty("metadata", "mdtest-hard", tree({"stat"}, {{"write_bytes", 3901}}), fault("stat")),
           faulty("metadata", "mdtest-easy", tree({"unlink", "tree-remove"}), sound),
           faulty("metadata", "mdtest-hard", tree({"read"}, {{"write_bytes", 3901}, {"read_bytes", 3901}}), sound),
           faulty("metadata", "mdtest-hard", tree({"unlink", "tree-remove"}, {{"write_bytes", 3901}}), sound)}),
      exit_code::case_failed);
  expect_nothing_left();
  if (!world_.root()) return;
  std::map<std::string, int> failed;
  std::map<std::string, int> good;
  for (const char* name : {"write", "read", "create", "stat", "find", "unlink"})
    for (const Json& record : phases(name)) ++(record["status"] == "ok" ? good : failed)[name];
  EXPECT_EQ(failed, (std::map<std::string, int>{{"stat", 1}}));
  EXPECT_EQ(good, (std::map<std::string, int>{
                      {"write", 2}, {"read", 3}, {"create", 2}, {"stat", 1}, {"find", 1}, {"unlink", 2}}));
}

}  // namespace ullage::faulty_plans_test
