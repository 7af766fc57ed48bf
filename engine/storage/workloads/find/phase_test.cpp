// SPDX-License-Identifier: Apache-2.0
// The phases in the phase runner: what their records say, and what fails them.
#include "storage/workloads/find/phase.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>

#include "base/json.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_facts.hpp"
#include "storage/workloads/find/test_support.hpp"

namespace ullage::find_phase_test {
namespace {

FindParameters search(const std::string& within, const std::string& name = "", bool newer = false,
                      const std::string& size = "") {
  FindParameters parameters;
  parameters.within = within;
  parameters.name = name;
  parameters.newer = newer;
  parameters.size = size;
  return parameters;
}

class MpiFindPhase : public ::testing::Test {
 protected:
  MpiFindPhase() : meter_(StopFlags::instance().now()), watchdog_({}) {
    context_.world = &world();
    context_.folder = &bench_.folder();
    context_.case_id = "a1";
    context_.dataset = "stamp";
    context_.datasets = &book_;
    context_.writes_manifest = world().root();
    if (world().root()) std::filesystem::create_directories(bench_.path("c-stamp"));
  }

  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  /// Collective; the record on every rank.
  Json run(PhaseWork& work) {
    world().all().barrier();
    Json record;
    const RunContext context{&world(), &clock_, &watchdog_, &meter_, {}, 0};
    status_ = run_phase(context, &bench_.folder(), work, record).status;
    return Json::parse(world().all().broadcast(record.dump(), 0));
  }
  Json find(const FindParameters& parameters) {
    FindPhase phase(context_, parameters, "c-stamp/data");
    return run(phase);
  }
  Json make_timestamp() {
    TimestampPhase phase(context_, "c-stamp/data");
    return run(phase);
  }
  void make_dataset(const std::string& name, int files) {
    if (world().root()) {
      std::filesystem::create_directories(bench_.path(name + "/sub"));
      for (int i = 0; i < files; ++i)
        test::write_file(bench_.path(name + "/sub/f" + std::to_string(i)),
                         std::string(static_cast<std::size_t>(i), 'x'));
    }
    EXPECT_TRUE(book_.enter(name, Json::object()).has_value());
    world().all().barrier();
  }

  test::KeptSignals kept_;
  test::Bench bench_;
  DatasetFacts book_;
  mpi::CommonClock clock_;
  Meter meter_;
  Watchdog watchdog_;
  StorageContext context_;
  PhaseStatus status_ = PhaseStatus::ok;
};

TEST_F(MpiFindPhase, OperationsAreTheEntriesAndCountersSayWhatWasFound) {
  make_dataset("tree", 100);
  const Json record = find(search("tree", "", false, "-11c"));
  EXPECT_EQ(status_, PhaseStatus::ok) << record.dump();
  EXPECT_EQ(record["phase"], "find");
  EXPECT_EQ(record["access"], "metadata");
  EXPECT_EQ(record["operations"], 102);
  EXPECT_EQ(record["bytes"], 0);
  EXPECT_EQ(record["counters"], (Json{{"scanned", 102}, {"found", 11}, {"errors", 0}})) << "f0 to f10";
}

TEST_F(MpiFindPhase, TheWholeRunFolderHoldsMarkerAndManifestToo) {
  make_dataset("tree", 3);
  const Json record = find(search(""));
  ASSERT_EQ(status_, PhaseStatus::ok) << record.dump();
  EXPECT_EQ(record["counters"]["scanned"], 1 + 2 + 1 + 2 + 3);
  if (world().root() && test::has_gnu_find()) {
    EXPECT_EQ(record["counters"]["found"], test::gnu_find(bench_.folder().path(), {}).size());
  }
}

TEST_F(MpiFindPhase, WhatIsMadeAfterTheTimestampIsNewer) {
  make_dataset("before", 5);
  const Json made = make_timestamp();
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_EQ(made["phase"], "timestamp");
  EXPECT_EQ(made["operations"], 1);
  make_dataset("after", 7);
  EXPECT_EQ(find(search("before", "f*", true))["counters"]["found"], 0);
  EXPECT_EQ(find(search("after", "f*", true))["counters"]["found"], 7);
  (void)make_timestamp();
  EXPECT_EQ(find(search("after", "f*", true))["counters"]["found"], 0) << "made anew";
}

TEST_F(MpiFindPhase, DatasetThatIsNotThereIsNamed) {
  for (const FindParameters& parameters : {search("nowhere"), search("", "", true)}) {
    const Json record = find(parameters);
    EXPECT_EQ(status_, PhaseStatus::failed);
    const std::string name = parameters.newer ? "stamp" : "nowhere";
    EXPECT_EQ(record["failures"][0]["path"], "dataset '" + name + "'");
    EXPECT_EQ(record["failures"][0]["text"], "is not there; first run the case that makes it");
  }
}

/// This process can open `spare` files more and no others.
class FewDescriptors final {
 public:
  explicit FewDescriptors(rlim_t spare) {
    getrlimit(RLIMIT_NOFILE, &was_);
    const Descriptor lowest_free(::open("/", O_PATH | O_CLOEXEC));
    const rlimit now{static_cast<rlim_t>(lowest_free.get()) + spare, was_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &was_); }

 private:
  rlimit was_{};
};

/// With one descriptor to spare the root can be opened and looked at, but not be read.
TEST_F(MpiFindPhase, DirectoryThatCannotBeReadFailsThePhaseWhichStillCounts) {
  make_dataset("tree", 4);
  Json record;
  {
    const FewDescriptors one(1);
    record = find(search("tree", "t*"));
  }
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_EQ(record["counters"], (Json{{"scanned", 1}, {"found", 1}, {"errors", 1}}));
  EXPECT_EQ(record["operations"], 1);
  ASSERT_EQ(record["failures"].size(), 1U) << record.dump();
  EXPECT_EQ(record["failures"][0]["path"], bench_.path("tree"));
  EXPECT_EQ(record["failures"][0]["errno"], EMFILE);
  EXPECT_EQ(record["failures"][0]["operation"], "open");
}

TEST_F(MpiFindPhase, StopEndsTheWalkOnEveryRank) {
  constexpr int directories = 3;
  constexpr int files = 1100;  // more than are read between two looks at whether to stop
  make_dataset("tree", 0);
  if (world().root()) {
    for (int i = 0; i < directories * files; ++i) {
      const std::string directory = bench_.path("tree/" + std::to_string(i % directories));
      if (i < directories) std::filesystem::create_directories(directory);
      test::write_file(directory + "/f" + std::to_string(i), "");
    }
  }
  StopFlags::instance().stop_now();
  const Json record = find(search("tree"));
  EXPECT_EQ(status_, PhaseStatus::interrupted);
  EXPECT_LT(record["operations"], files * directories);
  EXPECT_EQ(record["operations"], record["counters"]["scanned"]);
}

}  // namespace
}  // namespace ullage::find_phase_test
