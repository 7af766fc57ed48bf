// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/mixed_parameters.hpp"

#include <gtest/gtest.h>

#include "storage/backend.hpp"
#include "storage/test_support.hpp"

namespace ullage::mixed_metadata_parameters_test {
namespace {

Status check(const Values& given, const Capabilities& capabilities = {.metadata = true}) {
  const auto values = complete(specs_of(MixedMetadataParameters::table()), given, "");
  if (!values) return fail(values.error());
  return check_mixed_metadata(MixedMetadataParameters::from(*values), capabilities, "/w");
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
  const MixedMetadataShape shape = MixedMetadataParameters::from(*values).shape();
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

}  // namespace
}  // namespace ullage::mixed_metadata_parameters_test
