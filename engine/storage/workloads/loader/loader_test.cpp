// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `loader`: every sample comes back in every epoch, by every backend that serves threads.
#include <gtest/gtest.h>

#include "base/test_support.hpp"
#include "storage/workloads/loader/loader.hpp"
#include "storage/workloads/loader/test_support.hpp"

namespace ullage::loader_test {
namespace {

class MpiLoader : public OneRepetition {
 protected:
  /// `write` and two epochs, or the epochs alone; every sample in each.
  void expect_all(const Json& records, const std::string& what, std::size_t epochs_from = 1) {
    EXPECT_EQ(status_, PhaseStatus::ok) << what << records.dump();
    ASSERT_EQ(records.size(), epochs_from + 2) << what;
    if (!world().root()) return;
    for (std::size_t i = epochs_from; i < records.size(); ++i) {
      EXPECT_EQ(records[i]["counters"]["samples"], 100) << what;
      EXPECT_EQ(records[i]["bad_blocks"], 0) << what;
      EXPECT_EQ(records[i]["bytes"], records[epochs_from]["bytes"]) << what;
      EXPECT_GE(records[i]["verified_bytes"].get<std::uint64_t>(), records[i]["bytes"].get<std::uint64_t>()) << what;
    }
    if (epochs_from == 1) {
      EXPECT_EQ(records[0]["bytes"], records[1]["bytes"]) << what;
    }
  }
};

TEST_F(MpiLoader, OneSampleOrManyAFileComeBackInEveryEpoch) {
  for (const std::int64_t per_file : {1, 7, 100}) {
    const Values given{{"samples_per_file", number(per_file)}, {"verify", words("full")}, {"batch", number(3)}};
    expect_all(run(given), std::to_string(per_file) + " a file");
    expect_nothing_left();
  }
}

TEST_F(MpiLoader, SeveralAcceleratorsOfARankShareTheSamples) {
  const Values given{{"accelerators", number(world().size() * 2 + 1)}, {"verify", words("full")}};
  const Json records = run(given);
  expect_all(records, "accelerators");
  if (!world().root()) return;
  EXPECT_EQ(records[1]["facts"]["accelerators"], world().size() * 2 + 1);
  EXPECT_EQ(records[1]["operations"], 100) << "batches of one";
}

TEST_F(MpiLoader, EveryBackendThatServesThreadsReadsSamples) {
  for (const char* backend : {"posix", "uring", "stdio", "mmap"}) {
    if (Registry<BackendEntry>::instance().find(backend)->description.unavailable()) continue;
    use(backend);
    const std::int64_t threads = std::min(backend_->capabilities().file_threads, 3);
    expect_all(run({{"threads", number(threads)}, {"verify", words("full")}, {"samples_per_file", number(9)}}),
               backend);
    expect_nothing_left();
  }
}

TEST_F(MpiLoader, SharedMemoryHoldsSamplesWithoutAPath) {
  use("memory", {{"pages", words("shared")}});
  has_path_ = false;
  expect_all(run({{"verify", words("full")}}), "memory");
}

TEST_F(MpiLoader, DirectReadsWholeBlocksAndRefusesOthers) {
  auto backend = bench_.try_make("posix", {{"direct", true}});
  if (!backend) GTEST_SKIP() << "no direct I/O here";
  backend_ = std::move(*backend);
  expect_all(run({{"unit_bytes", number(4096)}, {"verify", words("full")}}), "direct");
  (void)run({});
  EXPECT_FALSE(begun_) << "sizes of 8 bytes";
}

TEST_F(MpiLoader, ANamedDatasetIsMadeOnceAndReadByOtherCases) {
  dataset_ = "train";
  (void)run({{"epochs", number(0)}});
  EXPECT_EQ(status_, PhaseStatus::ok);
  for (const std::int64_t read : {100, 40}) {
    const Json records = run({{"data", words("use")}, {"read_samples", number(read)}, {"verify", words("full")}});
    EXPECT_EQ(status_, PhaseStatus::ok) << records.dump();
    if (world().root()) {
      EXPECT_EQ(records[1]["counters"]["samples"], read);
      EXPECT_EQ(records[1]["bad_blocks"], 0);
    }
  }
  (void)run({{"data", words("use")}, {"samples_per_file", number(5)}});
  EXPECT_FALSE(begun_) << "another set";
  (void)run({{"epochs", number(0)}});
  EXPECT_EQ(status_, PhaseStatus::ok) << "made afresh";
}

TEST_F(MpiLoader, WhatIsDamagedIsFound) {
  const auto damage = [this](std::size_t phase) {
    if (phase != 1) return;
    std::fstream file(file_path("data.00000002"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(700);
    file.put('\x5a');
  };
  const Json records = run({{"samples_per_file", number(10)}, {"verify", words("full")}}, damage);
  EXPECT_EQ(status_, PhaseStatus::failed);
  expect_nothing_left();
  if (!world().root()) return;
  EXPECT_EQ(records[1]["bad_blocks"], 1);
  EXPECT_NE(records[1]["failures"].dump().find("data.00000002"), std::string::npos) << records[1]["failures"].dump();
}

TEST_F(MpiLoader, FilesThatWereExchangedAreFound) {
  const auto exchange = [this](std::size_t phase) {
    if (phase != 1) return;
    std::filesystem::rename(file_path("data.00000000"), file_path("aside"));
    std::filesystem::rename(file_path("data.00000001"), file_path("data.00000000"));
    std::filesystem::rename(file_path("aside"), file_path("data.00000001"));
  };
  const Json records =
      run({{"samples_per_file", number(10)}, {"deviation_bytes", number(0)}, {"verify", words("full")}}, exchange);
  EXPECT_EQ(status_, PhaseStatus::failed) << records.dump();
}

TEST_F(MpiLoader, AFileThatIsGoneFailsTheEpochOnAllRanks) {
  const auto remove = [this](std::size_t phase) {
    if (phase == 2) std::filesystem::remove(file_path("data.00000042"));
  };
  const Json records = run({}, remove);
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_EQ(records.size(), 3U);
  expect_nothing_left();
}

TEST_F(MpiLoader, OneNodeSaysThatItReadsItsOwn) {
  const Json records = run({{"epochs", number(1)}});
  if (!world().root()) return;
  EXPECT_EQ(records[1]["data_of"], "own");
  EXPECT_EQ(records[1]["counters"]["samples_of_own_node"], 100);
  EXPECT_EQ(records[1]["cache_control"], "advise");
}

TEST_F(MpiLoader, SimulatedDevicesNeedNoSamples) {
  for (const char* backend : {"null", "model"}) {
    use(backend);
    const Values given{
        {"data", words("none")}, {"verify", words("none")}, {"cache", words("none")}, {"threads", number(1)}};
    const Json records = run(given);
    EXPECT_EQ(status_, PhaseStatus::ok);
    ASSERT_EQ(records.size(), 2U);
    if (world().root()) {
      EXPECT_EQ(records[0]["operations"], 100);
    }
  }
}

TEST_F(MpiLoader, AReadErrorFailsTheEpochAndLeavesNothing) {
  use("fault", {{"inner", words("posix")}, {"operation", words("read")}, {"kind", words("eio")}});
  const Json records = run({{"threads", number(1)}});
  EXPECT_EQ(status_, PhaseStatus::failed);
  expect_nothing_left();
}

/// A reader's, or the accelerator's own.
TEST_F(MpiLoader, AThreadOfOneRankThatDoesNotStartFailsTheCaseForAll) {
  for (const std::size_t given : {1U, 3U}) {
    Json records;
    {
      std::optional<test::FewThreads> few;
      if (world().rank() == world().size() - 1) few.emplace(given);
      records = run({{"threads", number(3)}});
    }
    EXPECT_EQ(status_, PhaseStatus::failed);
    ASSERT_EQ(records.size(), 2U);
    ASSERT_EQ(records[1]["failures"].size(), 1U) << records[1].dump(1);
    EXPECT_EQ(records[1]["failures"][0]["rank"], world().size() - 1);
    EXPECT_EQ(records[1]["failures"][0]["operation"], "start");
    EXPECT_EQ(records[1]["failures"][0]["path"], "threads");
    EXPECT_EQ(records[1]["failures"][0]["errno"], EAGAIN);
    expect_nothing_left();
  }
  expect_all(run({{"verify", words("full")}}), "the next one");
}

constexpr Capabilities files{.file_threads = 8};
constexpr Capabilities device{.path = false, .data = false, .file_threads = 1};

std::string refusal(const LoaderParameters& parameters, const Capabilities& capabilities = files, int ranks = 2) {
  PlannedLayout layout;
  layout.ranks = ranks;
  return test::line_of(check_loader(parameters, capabilities, layout, "/p"));
}

TEST(LoaderParameters, DefaultsAreFine) { EXPECT_EQ(refusal({}), "no error"); }

TEST(LoaderParameters, WhatMeansNothingIsRefusedByItsName) {
  const auto with = [](auto change) {
    LoaderParameters p;
    change(p);
    return p;
  };
  EXPECT_NE(refusal(with([](auto& p) { p.data = LoaderData::none; })).find("/p/data"), std::string::npos);
  EXPECT_NE(refusal({}, device).find("/p/data"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.data = LoaderData::none; }), device).find("/p/verify"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.data = LoaderData::use, p.epochs = 0; })).find("/p/epochs"),
            std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.accelerators = 1; })).find("/p/accelerators"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.batch = 600; })).find("/p/batch"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.accelerators = 5; })).find("/p/threads"), std::string::npos)
      << "12 threads on one of the ranks";
  EXPECT_NE(refusal(with([](auto& p) { p.read_samples = 2000; })).find("/p/read_samples"), std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.unit_bytes = 4096, p.sample_bytes = 100; })).find("/p/unit_bytes"),
            std::string::npos);
  EXPECT_NE(refusal(with([](auto& p) { p.transfer_bytes = 1001; })).find("/p/transfer_bytes"), std::string::npos);
}

TEST(LoaderParameters, NeedsAreThoseOfWhatIsMade) {
  LoaderParameters p;
  p.samples = 1000;
  p.samples_per_file = 10;
  p.deviation_bytes = 0;
  EXPECT_EQ(needs_of_loader(p).inodes, 100U);
  EXPECT_GE(needs_of_loader(p).bytes, 1000U * 2828486);
  EXPECT_LE(needs_of_loader(p).bytes, 1000U * 2828488 + 100U * 4096);
  p.data = LoaderData::use;
  EXPECT_EQ(needs_of_loader(p).bytes, 0U);
}

TEST(LoaderParameters, TheWindowHasTheBatchesAheadAndTwoSamplesOfEachThread) {
  LoaderParameters p;
  p.threads = 4;
  p.ahead = 2;
  p.batch = 1;
  EXPECT_EQ(p.window(), 8U);
  p.batch = 400;
  EXPECT_EQ(p.window(), 800U);
}

}  // namespace
}  // namespace ullage::loader_test
