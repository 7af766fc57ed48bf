// SPDX-License-Identifier: Apache-2.0
// Whole launches of workload `mixed-metadata`.
#include <gtest/gtest.h>

#include "storage/workloads/metadata/mixed_metadata.hpp"
#include "storage/workloads/mixed_test_support.hpp"

namespace ullage::mixed_metadata_test {

namespace fs = std::filesystem;

class MpiMixedMetadata : public test::Launches {
 protected:
  [[nodiscard]] Json mixed(const std::string& dataset, const std::vector<std::string>& phase_names,
                           const Json& more = Json::object()) {
    Json parameters{{"sets", 3}, {"objects", 10}, {"rounds", 10}, {"phases", phase_names}};
    parameters.update(more);
    return case_of("mixed-metadata", dataset, parameters);
  }
  static constexpr std::uint64_t objects = 3 * 10;  // of a rank
};

TEST_F(MpiMixedMetadata, OneCaseDoesAllPhasesAndLeavesNothing) {
  ASSERT_EQ(run_cases({mixed("", {"precreate", "bench", "cleanup"}, {{"rounds", 20}})}), exit_code::ok);
  if (world_.root()) {
    EXPECT_EQ(phase("precreate")["operations"], objects * ranks());
    EXPECT_EQ(phase("precreate")["access"], "write");
    EXPECT_TRUE(phase("precreate")["latency_parts"].contains("write"));
    const Json bench = phase("bench");
    const std::uint64_t each = 20U * 3 * ranks();
    EXPECT_EQ(bench["operations"], 4 * each);
    EXPECT_EQ(bench["access"], "metadata");
    EXPECT_EQ(bench["counters"], (Json{{"stats", each}, {"reads", each}, {"deletes", each}, {"creates", each}}));
    for (const char* part : {"stat", "read", "delete", "create"})
      EXPECT_EQ(bench["latency_parts"][part]["operations"], each) << part;
    EXPECT_EQ(bench["verified_bytes"], each * 3901);
    EXPECT_EQ(phase("cleanup")["operations"], objects * ranks());
  }
  expect_nothing_left();
}

TEST_F(MpiMixedMetadata, WhatBenchLeavesIsRemovedAtTheEndOfTheCase) {
  ASSERT_EQ(run_cases({mixed("", {"precreate", "bench"}, {{"order", "random"}, {"stat_share", 3}})}), exit_code::ok);
  expect_nothing_left();
}

TEST_F(MpiMixedMetadata, NamedDatasetGoesFromCaseToCaseAndLaunchToLaunch) {
  const Json stride{{"stride", 1}};
  Json first = plan({mixed("mdworkbench", {"precreate"}), mixed("mdworkbench", {"bench"}, stride)});
  first["keep"] = true;
  ASSERT_EQ(run(first), exit_code::ok);
  Json second = plan({mixed("mdworkbench", {"bench"}, stride), mixed("mdworkbench", {"cleanup"})});
  second["continues"] = true;
  ASSERT_EQ(run(second), exit_code::ok);
  if (world_.root()) {
    const Json bench = phase("bench");
    EXPECT_EQ(bench["verified_bytes"], objects * ranks() * 3901) << "a whole turnover of what the bench before made";
    EXPECT_EQ(bench["data_of"], ranks() > 1 ? "other-rank" : "own");
    EXPECT_EQ(phase("cleanup")["operations"], objects * ranks());
  }
  expect_nothing_left();
}

TEST_F(MpiMixedMetadata, StonewallLeavesSetsThatAreAlike) {
  for (const bool wear_out : {false, true}) {
    const Json wall{{"rounds", 1'000'000}, {"stonewall_s", 0.05}, {"wear_out", wear_out}};
    ASSERT_EQ(run_cases({mixed("m", {"precreate"}), mixed("m", {"bench"}, wall), mixed("m", {"bench"}),
                         mixed("m", {"cleanup"})}),
              exit_code::ok);
    if (world_.root()) {
      const auto benches = phases("bench");
      ASSERT_EQ(benches.size(), 2U);
      EXPECT_GT(benches[0]["operations"], 0U);
      EXPECT_EQ(benches[0]["stonewall"]["wear_out"], wear_out);
      EXPECT_EQ(benches[1]["verified_bytes"], objects * ranks() * 3901);
      EXPECT_EQ(phase("cleanup")["operations"], objects * ranks());
    }
    expect_nothing_left();
  }
}

TEST_F(MpiMixedMetadata, DatasetHasToBeThereAndToBeTheSame) {
  ASSERT_EQ(run_cases({mixed("m", {"bench"})}), exit_code::case_failed);
  if (world_.root()) {
    EXPECT_NE(test::read_file(records()).find("dataset 'm': is not there; first run the case that makes it"),
              std::string::npos);
  }
  ASSERT_EQ(run_cases({mixed("m", {"precreate"}), mixed("m", {"bench"}, {{"objects", 11}})}), exit_code::case_failed);
  expect_nothing_left();
}

TEST_F(MpiMixedMetadata, ObjectsThatAreGoneFailTheBench) {
  Json first = plan({mixed("m", {"precreate"})});
  first["keep"] = true;
  ASSERT_EQ(run(first), exit_code::ok);
  if (world_.root()) fs::remove(run_folder() + "/m/mdtest_tree.0.0/mdtest_tree.0.2/file.mdtest.0.4");
  world_.all().barrier();
  Json second = plan({mixed("m", {"bench"})});
  second["continues"] = true;
  EXPECT_EQ(run(second), exit_code::case_failed);
  if (world_.root()) {
    EXPECT_EQ(phase("bench")["failures"][0]["errno"], ENOENT);
    EXPECT_EQ(phase("bench")["failures"][0]["operation"], "stat");
  }
  expect_nothing_left();
}

Status check(const Values& given, const Capabilities& capabilities = {.metadata = true}) {
  const auto values = complete(specs_of(MixedMetadataParameters::table()), given, "");
  if (!values) return fail(values.error());
  return check_mixed_metadata(bind_parameters<MixedMetadataParameters>(*values), capabilities, "/w");
}

std::string where(const Values& given) {
  const auto status = check(given);
  return status ? "accepted" : status.error().where;
}

Value phases(std::initializer_list<std::string> words) { return std::vector<std::string>(words); }
Value share(std::int64_t value) { return value; }

TEST(MixedMetadataParameters, DefaultsAreTheLoopOfMdWorkbench) {
  EXPECT_TRUE(check({}));
  const auto values = complete(specs_of(MixedMetadataParameters::table()), {}, "");
  ASSERT_TRUE(values);
  const MixedMetadataShape shape = bind_parameters<MixedMetadataParameters>(*values).shape();
  EXPECT_EQ(shape.shares, (std::array<std::uint64_t, 4>{1, 1, 1, 1}));
  EXPECT_EQ(shape.order, VisitOrder::looped);
}

TEST(MixedMetadataParameters, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_EQ(where({{"phases", phases({"bench", "precreate"})}}), "/w/phases/1");
  EXPECT_EQ(where({{"phases", phases({"cleanup", "bench"})}}), "/w/phases/0");
  EXPECT_EQ(where({{"phases", phases({"bench", "bench"})}}), "/w/phases/1");
  EXPECT_EQ(where({{"create_share", share(2)}}), "/w/create_share");
  EXPECT_EQ(where({{"objects", share(3)}, {"create_share", share(3)}, {"delete_share", share(3)}}), "/w/delete_share");
  EXPECT_EQ(
      where(
          {{"stat_share", share(0)}, {"read_share", share(0)}, {"delete_share", share(0)}, {"create_share", share(0)}}),
      "/w/stat_share");
  EXPECT_EQ(where({{"wear_out", true}}), "/w/wear_out");
  EXPECT_EQ(where({{"stonewall_s", 1.0}, {"wear_out_limit_s", 1.0}}), "/w/wear_out_limit_s");
  EXPECT_EQ(where({{"phases", phases({"precreate"})}, {"stonewall_s", 1.0}}), "/w/stonewall_s");
}

TEST(MixedMetadataParameters, OneObjectASetIsEnoughWhereNothingIsDeleted) {
  EXPECT_EQ(where({{"objects", share(1)}, {"delete_share", share(0)}, {"create_share", share(0)}}), "accepted");
  EXPECT_EQ(where({{"objects", share(1)}, {"phases", phases({"precreate", "cleanup"})}}), "accepted");
  EXPECT_EQ(where({{"objects", share(1)}}), "/w/delete_share");
}

TEST(MixedMetadataParameters, BackendHasToKnowNames) {
  const auto status = check({}, Capabilities{});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "/w");
}

TEST(MixedMetadataParameters, TreeKnowsEverySetAndObject) {
  MixedMetadataParameters parameters;
  parameters.sets = 7;
  const TreeShape tree = parameters.tree(3);
  EXPECT_EQ(tree.directory_count(), 8U);
  EXPECT_EQ(tree.holding_count(), 7U);
  EXPECT_EQ(tree.trees(), 3U);
  EXPECT_TRUE(tree.parse_item(tree.item_name(2, 1'000'000'000'000)));
}

}  // namespace ullage::mixed_metadata_test
