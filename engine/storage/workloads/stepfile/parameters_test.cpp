// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/parameters.hpp"

#include "storage/workloads/stepfile/log_index.hpp"
#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

constexpr Capabilities posix_like{.metadata = true, .file_threads = 64};

Needs needs(const Values& given, int ranks) {
  return needs_of_stepfile(parameters_of(given), {.ranks = ranks, .nodes = {}, .ranks_per_node = {}});
}

std::string refusal(const Values& given, const Capabilities& capabilities = posix_like) {
  const Status status = check_stepfile(parameters_of(given), capabilities, "/p");
  return status ? "" : status.error().where + " " + status.error().text;
}

TEST(StepfileParameters, WhatMeansNothingIsRefused) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_EQ(refusal({{"state_bytes", number(4095)}}), "/p/state_bytes must be a multiple of 8");
  const Values revolve{{"order", words("revolve")}};
  EXPECT_EQ(refusal(revolve), "");
  for (const auto& [name, value] :
       Values{{"prefetch", number(1)}, {"write_behind", number(1)}, {"layout", words("log")}, {"remove_read", true}}) {
    Values given = revolve;
    given.emplace(name, value);
    EXPECT_EQ(refusal(given).find("/p/" + name), 0U) << name;
  }
  EXPECT_NE(refusal({{"layout", words("log")}, {"remove_read", true}}), "");
  EXPECT_NE(refusal({{"layout", words("dir-per-step")}, {"steps", number(20'000'000)}}), "");
  EXPECT_EQ(refusal({{"layout", words("hashed")}, {"hash_levels", number(5)}}), "");
}

TEST(StepfileParameters, BackendsAreAskedForWhatTheyHave) {
  EXPECT_NE(refusal({{"prefetch", number(1)}}, {.metadata = true}), "") << "no thread besides the rank's own";
  constexpr Capabilities uring_like{.metadata = true, .file_threads = 64, .thread_files = true};
  EXPECT_EQ(refusal({{"prefetch", number(1)}}, uring_like), "") << "each state has a file of its own";
  EXPECT_NE(refusal({{"prefetch", number(1)}, {"layout", words("log")}}, uring_like), "") << "the rank opened the log";
  EXPECT_NE(refusal({}, {.path = false, .data = false}), "") << "nothing to verify";
  EXPECT_EQ(refusal({{"verify", words("none")}}, {.path = false, .data = false}), "");
  EXPECT_NE(refusal({{"verify", words("none")}, {"remove_read", true}}, {.path = false, .data = false}), "");
  EXPECT_NE(refusal({{"sync", words("close")}}, {}), "") << "no metadata operations";
  EXPECT_EQ(refusal({{"sync", words("close")}, {"layout", words("log")}}, {}), "");
}

TEST(StepfileParameters, NeedsAreThoseOfAllRanks) {
  EXPECT_EQ(needs({}, 3).bytes, 3U * 12 * 4096);
  EXPECT_EQ(needs({{"state_bytes", number(4104)}}, 1).bytes, 12U * 8192) << "whole blocks of the file system";
  EXPECT_EQ(needs({}, 3).inodes, 3U * 12 + 3);
  EXPECT_EQ(needs({{"layout", words("flat")}}, 3).inodes, 3U * 12);
  EXPECT_EQ(needs({{"layout", words("log")}}, 3).inodes, 3U);
  EXPECT_EQ(needs({{"layout", words("log")}}, 1).bytes, 12U * 4096 + LogIndex::bytes(12, 4096));
  const Values revolve{{"order", words("revolve")}, {"checkpoints", number(5)}};
  EXPECT_EQ(needs(revolve, 2).bytes, 2U * 5 * 4096) << "no more states than are kept";
  EXPECT_EQ(needs({{"steps", number(12'500)}, {"state_bytes", number(5'000'000)}}, 72).inodes, 900'000U + 72);
}

}  // namespace
}  // namespace ullage::stepfile_test
