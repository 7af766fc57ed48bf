// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/metadata/metadata.hpp"

#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::metadata_parameters_test {

Status check(const Values& given, const Capabilities& capabilities = {.metadata = true}) {
  const auto values = complete(specs_of(MetadataParameters::table()), given, "");
  if (!values) return fail(values.error());
  return check_metadata(bind_parameters<MetadataParameters>(*values), capabilities, PlannedLayout{}, "/w");
}

std::string where(const Values& given) {
  const auto status = check(given);
  return status ? "accepted" : status.error().where;
}

Value phases(std::initializer_list<std::string> words) { return std::vector<std::string>(words); }
const Value directory = std::string("directory");

TEST(MetadataParameters, DefaultsAreSound) { EXPECT_TRUE(check({})); }

TEST(MetadataParameters, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_EQ(where({{"phases", phases({"tree-create", "mkdir"})}}), "/w/phases/1");
  EXPECT_EQ(where({{"phases", phases({"tree-create", "create"})}, {"item", directory}}), "/w/phases/1");
  EXPECT_EQ(where({{"phases", phases({"stat", "tree-create"})}}), "/w/phases/1");
  EXPECT_EQ(where({{"phases", phases({"tree-remove", "stat"})}}), "/w/phases/0");
  EXPECT_EQ(where({{"phases", phases({"read"})}, {"read_bytes", 2}, {"write_bytes", 1}}), "/w/read_bytes");
  EXPECT_EQ(where({{"depth", 60}, {"branching", 60}}), "/w/depth");
  EXPECT_EQ(where({{"items", 11}, {"items_per_directory", 10}}), "/w/items");
  EXPECT_EQ(where({{"wear_out", true}}), "/w/wear_out");
  EXPECT_EQ(where({{"stonewall_s", 1.0}, {"wear_out_limit_s", 1.0}}), "/w/wear_out_limit_s");
  EXPECT_EQ(where({{"phases", phases({"tree-create", "mkdir"})}, {"item", directory}, {"sync", std::string("file")}}),
            "/w/sync");
  EXPECT_EQ(where({{"cache", std::string("drop")}}), geteuid() == 0 ? "accepted" : "/w/cache");
  EXPECT_EQ(check({}, {}).error().where, "/w") << "a backend that knows no names";
}

TEST(MetadataParameters, StridesAreMdtests) {
  EXPECT_EQ(strides_of(MetadataPhaseKind::create), 0U);
  EXPECT_EQ(strides_of(MetadataPhaseKind::stat), 1U);
  EXPECT_EQ(strides_of(MetadataPhaseKind::read), 2U);
  EXPECT_EQ(strides_of(MetadataPhaseKind::unlink), 3U);
}

}  // namespace ullage::metadata_parameters_test
