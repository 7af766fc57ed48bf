// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/mixed_parameters.hpp"

#include <gtest/gtest.h>

#include "storage/backend.hpp"
#include "storage/test_support.hpp"

namespace ullage::mixed_transfer_parameters_test {
namespace {

Status check(const Values& given, const Capabilities& capabilities = {}) {
  const auto values = complete(specs_of(MixedTransferParameters::table()), given, "");
  if (!values) return fail(values.error());
  return check_mixed_transfer(MixedTransferParameters::from(*values), capabilities, "/w");
}

std::string where(const Values& given) {
  const auto status = check(given);
  return status ? "accepted" : status.error().where;
}

TEST(MixedTransferParameters, DefaultsAreSound) { EXPECT_EQ(where({}), "accepted"); }

TEST(MixedTransferParameters, WhatDoesNotFitTogetherIsNamed) {
  EXPECT_EQ(where({{"transfer_bytes", std::int64_t{100}}}), "/w/transfer_bytes");
  EXPECT_EQ(where({{"read_share", 0.7005}}), "/w/read_share");
  EXPECT_EQ(where({{"read_share", 1.5}}), "/read_share");
  EXPECT_EQ(where({{"zipf_theta", 0.9}}), "/w/zipf_theta");
  EXPECT_EQ(where({{"read_shift", std::int64_t{2}}}), "/w/read_shift");
  EXPECT_EQ(where({{"wear_out", true}}), "/w/wear_out");
  EXPECT_EQ(where({{"stonewall_s", 1.0}, {"wear_out_limit_s", 1.0}}), "/w/wear_out_limit_s");
}

TEST(MixedTransferParameters, SharesInThousandthsAreAccepted) {
  for (const double share : {0.0, 0.001, 0.333, 0.7, 0.999, 1.0}) EXPECT_EQ(where({{"read_share", share}}), "accepted");
}

TEST(MixedTransferParameters, BackendHasToHoldData) {
  const auto status = check({}, Capabilities{.data = false});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "/w");
}

}  // namespace
}  // namespace ullage::mixed_transfer_parameters_test
