// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/overlap/parameters.hpp"

#include <gtest/gtest.h>

#include <string>

#include "storage/workloads/overlap/test_support.hpp"

namespace ullage::overlap_parameters_test {
namespace {

using overlap_test::number;
using overlap_test::parameters_of;
using overlap_test::words;

constexpr Capabilities both_ways{.file_threads = 1024, .nonblocking = 1024};

void expect_refused(const Values& given, const Capabilities& capabilities, const std::string& where,
                    const std::string& what) {
  const Status status = check_overlap(parameters_of(given), capabilities, "/p");
  ASSERT_FALSE(status.has_value()) << what;
  EXPECT_EQ(status.error().where, where);
  EXPECT_NE(status.error().text.find(what), std::string::npos) << status.error().text;
}

TEST(OverlapParameters, WhatABackendCannotDoIsSaidWithItsReason) {
  EXPECT_TRUE(check_overlap(parameters_of({}), both_ways, "/p"));
  EXPECT_TRUE(check_overlap(parameters_of({{"method", words("nonblocking")}}), both_ways, "/p"));
  expect_refused({}, {.nonblocking = 8}, "/p/method", "must be nonblocking: only the rank's own thread");
  expect_refused({{"method", words("nonblocking")}}, {.file_threads = 8}, "/p/method",
                 "must be threads: this backend has no call that only begins a transfer");
  expect_refused({}, {.file_threads = 8, .thread_files = true, .nonblocking = 8}, "/p/method", "must be nonblocking");
  expect_refused({}, {}, "/p/method", "no other way to move data while its rank computes");
}

TEST(OverlapParameters, WhatMeansNothingIsRefusedWithItsPlace) {
  expect_refused({{"transfer_bytes", number(4097)}}, both_ways, "/p/transfer_bytes", "multiple of 8");
  expect_refused({{"depth", number(65)}}, both_ways, "/p/depth", "at most 64");
  expect_refused({{"method", words("nonblocking")}, {"depth", number(9)}}, {.nonblocking = 8}, "/p/depth", "at most 8");
  expect_refused({{"tests", number(1)}}, both_ways, "/p/tests", "must be 0");
  expect_refused({}, {.data = false, .file_threads = 1024}, "/p/verify", "holds no data");
  expect_refused({{"transfer_bytes", number(1 << 30)}, {"batches", number(9)}}, both_ways, "/p/batches", "16 GiB");
}

TEST(OverlapParameters, RoomIsThatOfTheFilesOfAllRanks) {
  PlannedLayout layout;
  layout.ranks = 3;
  const Needs needs = needs_of_overlap(parameters_of({}), layout);
  EXPECT_EQ(needs.bytes, 3U * (2 + 3 * 2) * 3 * 2 * 4096);
  EXPECT_EQ(needs.inodes, 3U);
}

}  // namespace
}  // namespace ullage::overlap_parameters_test
