// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `stepfile`: every state comes back in every layout and order.
#include "storage/workloads/stepfile/stepfile.hpp"

#include <gtest/gtest.h>

#include "base/test_support.hpp"
#include "storage/workloads/stepfile/revolve_test_support.hpp"
#include "storage/workloads/stepfile/test_support.hpp"

namespace ullage::stepfile_test {
namespace {

class MpiStepfile : public OneRepetition {
 protected:
  /// Every state was written and read whole, by every rank.
  void expect_all(const Json& records, const std::string& what, std::uint64_t steps = 12) {
    ASSERT_EQ(records.size(), 2U) << what;
    EXPECT_EQ(status_, PhaseStatus::ok) << what << records.dump();
    if (!world().root()) return;
    for (const char* key : {"operations", "bytes"})
      for (const Json& record : records)
        EXPECT_EQ(record[key], ranks() * steps * (key[0] == 'o' ? 1 : 4096)) << what << " " << key;
    EXPECT_EQ(records[1]["verified_bytes"], ranks() * steps * 4096) << what;
    EXPECT_EQ(records[0]["counters"]["states"], ranks() * steps) << what;
    EXPECT_EQ(records[1]["counters"]["states"], ranks() * steps) << what;
    EXPECT_EQ(records[1]["bad_blocks"], 0) << what;
  }
};

TEST_F(MpiStepfile, EveryLayoutReadsBackWhatItWroteAndLeavesNothing) {
  for (const char* layout : {"flat", "dir-per-rank", "dir-per-step", "hashed", "log"}) {
    expect_all(run({{"layout", words(layout)}, {"hash_levels", number(1)}}), layout);
    expect_nothing_left();
  }
}

TEST_F(MpiStepfile, EveryOrderReadsEveryStateOnce) {
  for (const char* order : {"reverse", "forward", "stride"})
    for (const char* layout : {"dir-per-rank", "log"})
      expect_all(run({{"order", words(order)}, {"layout", words(layout)}, {"stride", number(5)}}), order);
}

TEST_F(MpiStepfile, HelpersMoveEveryStateOnce) {
  for (const char* layout : {"dir-per-rank", "log"})
    for (const std::int64_t depth : {1, 3, 40})
      for (const double compute_s : {0.0, 0.0003}) {
        const Values given{{"layout", words(layout)},
                           {"write_behind", number(depth)},
                           {"prefetch", number(depth)},
                           {"compute_s", compute_s},
                           {"remove_read", std::string(layout) != "log"}};
        expect_all(run(given), std::string(layout) + " depth " + std::to_string(depth));
        expect_nothing_left();
      }
}

TEST_F(MpiStepfile, AHelperOfOneRankThatDoesNotStartFailsTheCaseForAll) {
  for (const char* depth : {"write_behind", "prefetch"}) {
    std::optional<test::FewThreads> few;
    if (world().rank() == world().size() - 1) few.emplace(2);
    const Json records = run({{depth, number(3)}});
    EXPECT_EQ(status_, PhaseStatus::failed) << depth;
    const Json& failures = records.back()["failures"];
    ASSERT_EQ(failures.size(), 1U) << records.dump(1);
    EXPECT_EQ(failures[0]["rank"], world().size() - 1);
    EXPECT_EQ(failures[0]["path"], "threads");
    EXPECT_EQ(failures[0]["errno"], EAGAIN);
    expect_nothing_left();
  }
}

TEST_F(MpiStepfile, EveryBackendWithNamesTakesStates) {
  for (const char* backend : {"posix", "stdio", "mmap"}) {
    use(backend);
    expect_all(run({}), backend);
    expect_all(run({{"write_behind", number(2)}, {"prefetch", number(2)}}), std::string(backend) + " with helpers");
    expect_nothing_left();
  }
}

TEST_F(MpiStepfile, OtherBackendsTakeStatesWhereTheyAreAvailable) {
  for (const char* backend : {"uring", "pmem", "memory", "mpiio"}) {
    if (Registry<BackendEntry>::instance().find(backend)->description.unavailable()) continue;
    use(backend);
    for (const char* layout : {"dir-per-rank", "log"})
      expect_all(run({{"layout", words(layout)}}), std::string(backend) + " " + layout);
    expect_nothing_left();
  }
}

TEST_F(MpiStepfile, MemoryTakesStatesOnATargetWithoutAPath) {
  use("memory");
  has_path_ = false;
  for (const char* layout : {"dir-per-rank", "hashed", "log"}) expect_all(run({{"layout", words(layout)}}), layout);
}

TEST_F(MpiStepfile, DirectIoTakesStatesOfWholeBlocks) {
  use("posix", {{"direct", true}});
  const Json records = run({{"state_bytes", number(8192)}});
  EXPECT_EQ(status_, PhaseStatus::ok) << records.dump();
  if (!world().root()) return;
  EXPECT_EQ(records[1]["verified_bytes"], ranks() * 12 * 8192);
  EXPECT_EQ(records[1]["cache_control"], "direct");
}

TEST_F(MpiStepfile, RevolveKeepsFewStatesAndComputesTheOthersAgain) {
  constexpr std::uint64_t steps = 30;
  constexpr std::uint64_t kept = 4;
  const Values given{{"order", words("revolve")}, {"steps", number(steps)}, {"checkpoints", number(kept)}};
  std::size_t files = 0;
  const Json records = run(given, [&] { files = test::names_in(bench_.path("c-" + id() + "/r.0")).size(); });
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_LE(files, kept);
  expect_nothing_left();
  if (!world().root()) return;
  EXPECT_EQ(records[1]["operations"], ranks() * steps);
  EXPECT_EQ(records[1]["counters"]["steps_recomputed"], ranks() * test::revolve_recomputations(steps, kept));
  EXPECT_GT(records[1]["verified_bytes"], 0U);
  EXPECT_EQ(records[0]["counters"]["states"], ranks() * files) << "the first sweep stores each of its states once";
}

TEST_F(MpiStepfile, SimulatedDevicesAndNoneTakeStatesWithoutNames) {
  for (const char* backend : {"null", "model"}) {
    use(backend);
    for (const std::int64_t depth : {0, 2}) {
      const Json records =
          run({{"verify", words("none")}, {"prefetch", number(depth)}, {"write_behind", number(depth)}});
      EXPECT_EQ(status_, PhaseStatus::ok);
      if (!world().root()) continue;
      EXPECT_EQ(records[1]["operations"], 12 * ranks());
    }
  }
}

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

namespace ullage::log_index_test {

std::vector<std::byte> encoded(const LogIndex& index, std::uint64_t steps, std::size_t alignment = 1) {
  std::vector<std::byte> place(LogIndex::bytes(steps, alignment), std::byte{0xff});
  index.encode(place);
  return place;
}

TEST(LogIndex, ComesBackAsItWas) {
  LogIndex index(100);
  for (std::uint64_t step = 0; step < 99; ++step) index.put(step, 4096 * (98 - step));
  for (const std::size_t alignment : {1U, 512U, 4096U}) {
    const auto place = encoded(index, 100, alignment);
    EXPECT_EQ(place.size() % alignment, 0U);
    const auto found = LogIndex::decode(place, 100);
    ASSERT_TRUE(found.has_value()) << found.error();
    for (std::uint64_t step = 0; step < 99; ++step) EXPECT_EQ(found->offset_of(step), 4096 * (98 - step));
    EXPECT_FALSE(found->has(99)) << "never written";
    EXPECT_FALSE(found->has(100));
  }
}

TEST(LogIndex, EveryDamagedByteIsFound) {
  LogIndex index(5);
  for (std::uint64_t step = 0; step < 5; ++step) index.put(step, step * 1000);
  const auto place = encoded(index, 5);
  for (std::size_t i = 0; i < place.size(); ++i) {
    auto damaged = place;
    damaged[i] ^= std::byte{1};
    EXPECT_FALSE(LogIndex::decode(damaged, 5).has_value()) << i;
  }
}

TEST(LogIndex, SaysWhatIsWrong) {
  const auto place = encoded(LogIndex(5), 5);
  EXPECT_EQ(LogIndex::decode(place, 6).error(), "the index is cut short");
  EXPECT_EQ(LogIndex::decode(place, 4).error(), "the index is of 5 steps, must be of 4");
  EXPECT_EQ(LogIndex::decode(std::vector<std::byte>(place.size()), 5).error(), "the index is of 0 steps, must be of 5");
}

}  // namespace ullage::log_index_test
