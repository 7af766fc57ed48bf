// SPDX-License-Identifier: Apache-2.0
// One repetition over real backends in a folder all ranks share: what it reports, and that it leaves nothing behind.
#include "run/repetition.hpp"

#include <gtest/gtest.h>

#include "run/test_support.hpp"

namespace ullage::repetition_test {

const std::string id = "00000000000000a1";

/// Looks at a file after each writing phase.
class Peek final : public Probe {
 public:
  explicit Peek(std::string name) : name_(std::move(name)) {}
  void begin(const PhaseScope&) override {}
  void end(const PhaseScope&) override {}
  void settle(const PhaseScope& scope) override {
    if (scope.writes) contents.push_back(test::read_file(scope.folder->path() + "/" + name_));
  }
  void report(const PhaseScope&, Json&) override {}
  std::vector<std::string> contents;

 private:
  std::string name_;
};

class MpiRepetition : public ::testing::Test {
 protected:
  MpiRepetition() : folder_(world_), meter_(StopFlags::instance().now()), watchdog_({}) {
    if (world_.root()) std::filesystem::create_directory(folder_.path() + "/target");
    world_.all().barrier();
  }

  /// Parses a plan of one case and makes its folder.
  void prepare(const Json& planned) {
    auto plan = parse_plan(test::small_plan(world_, folder_.path(), {planned}).dump());
    EXPECT_TRUE(plan.has_value()) << to_line(plan.error());
    plan_ = std::move(plan.value());
    auto places = Places::prepare(plan_, world_, watchdog_);
    EXPECT_TRUE(places.has_value()) << to_line(places.error());
    places_ = std::move(places.value());
  }

  RepetitionReport run(int repetition = 0, bool warmup = false) {
    return run_at(places_->at(plan_.cases[0].target), repetition, warmup);
  }
  RepetitionReport run_at(const Place& place, int repetition = 0, bool warmup = false) {
    const RunContext context{&world_, &clock_, &watchdog_, &meter_, probes_, 0};
    auto report = run_repetition(context, plan_, plan_.cases[0], place, {0, repetition, warmup}, buffer_);
    world_.all().barrier();
    EXPECT_TRUE(world_.all().all(report.outcome.ok) || !world_.all().any(report.outcome.ok)) << "ranks disagree";
    return report;
  }

  [[nodiscard]] std::string run_folder() const { return folder_.path() + "/target/ullage-r1"; }
  void expect_no_data_left() {
    EXPECT_EQ(test::names_in(run_folder()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world_.all().barrier();
  }
  /// The whole list, for a failure's message.
  [[nodiscard]] static std::string dump(const RepetitionReport& report) { return Json(report.records).dump(1); }

  test::KeptSignals kept_;
  mpi::World world_;
  test::SharedFolder folder_;
  mpi::CommonClock clock_;
  Meter meter_;
  Watchdog watchdog_;
  std::vector<std::unique_ptr<Probe>> probes_;
  AlignedBuffer buffer_;
  Plan plan_;
  std::optional<Places> places_;
};

Json fault_case(const Json& fault, const Json& extra = Json::object()) {
  Json planned = test::small_case(id, "disk", "fault", extra);
  planned["backend"]["parameters"] = fault;
  return planned;
}

TEST_F(MpiRepetition, RecordsEveryPhaseAndRemovesTheDataset) {
  prepare(test::small_case(id, "disk", "posix", {{"verify", "full"}, {"phases", {"write", "rewrite", "read"}}}));
  const auto report = run(3, true);
  EXPECT_TRUE(report.outcome.ok);
  EXPECT_TRUE(report.outcome.warmup);
  EXPECT_FALSE(report.interrupted);
  expect_no_data_left();
  for (const char* phase : {"write", "rewrite", "read"}) {
    ASSERT_EQ(report.outcome.phases.count(phase), 1U) << "known on every rank: " << phase;
    const auto elapsed = report.outcome.phases.at(phase).at(0);
    EXPECT_EQ(world_.all().min(elapsed), world_.all().max(elapsed));
  }
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 3U) << dump(report);
  const auto volume = static_cast<std::uint64_t>(world_.size()) * 65536;
  for (const Json& record : report.records) {
    EXPECT_EQ(record["case"], id);
    EXPECT_EQ(record["repetition"], 3);
    EXPECT_EQ(record["warmup"], true);
    EXPECT_EQ(record["status"], "ok");
    EXPECT_EQ(record["bytes"], volume);
    EXPECT_EQ(record["elapsed_ns"], report.outcome.phases.at(record["phase"]).at(0));
    EXPECT_EQ(record["file_system"], places_->at("disk").space.file_system);
  }
  EXPECT_EQ(report.records[2]["verified_bytes"], volume);
}

TEST_F(MpiRepetition, ErrorOfOneRankFailsItForAllAndTheNextOneWorks) {
  const int guilty = world_.size() - 1;
  prepare(fault_case({{"operation", "write"}, {"kind", "enospc"}, {"rank", guilty}, {"after", 1}}));
  const auto report = run();
  expect_no_data_left();
  plan_.cases[0].backend.values["after"] = std::int64_t{1'000'000};
  EXPECT_TRUE(run(1).outcome.ok);
  expect_no_data_left();
  EXPECT_FALSE(report.outcome.ok);
  EXPECT_EQ(report.outcome.phases.count("read"), 0U) << "nothing is read after a failed write";
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 1U) << dump(report);
  Json write = report.records[0];
  EXPECT_EQ(write["status"], "failed");
  ASSERT_EQ(write["failures"].size(), 1U);
  EXPECT_EQ(write["failures"][0]["rank"], guilty);
  EXPECT_EQ(write["failures"][0]["errno"], ENOSPC);
}

TEST_F(MpiRepetition, FlippedBitIsAFailureOfTheReadingPhase) {
  prepare(fault_case({{"operation", "write"}, {"kind", "flip"}, {"rank", 0}, {"flip_bit", 77}}));
  const auto report = run();
  EXPECT_FALSE(report.outcome.ok);
  expect_no_data_left();
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 2U) << dump(report);
  EXPECT_EQ(report.records[0]["status"], "ok");
  EXPECT_EQ(report.records[1]["status"], "failed");
  EXPECT_EQ(report.records[1]["bad_blocks"], 1);
}

TEST_F(MpiRepetition, BackendThatOneRankCannotMakeIsNamedWithThatRank) {
  prepare(test::small_case(id, "disk", "posix"));
  const int guilty = world_.size() - 1;
  const Place nowhere;
  const auto report = run_at(world_.rank() == guilty ? nowhere : places_->at("disk"));
  EXPECT_FALSE(report.outcome.ok);
  EXPECT_TRUE(report.outcome.phases.empty());
  expect_no_data_left();
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 1U) << dump(report);
  Json event = report.records[0];
  EXPECT_EQ(event["kind"], "event");
  EXPECT_EQ(event["severity"], "error");
  EXPECT_EQ(event["code"], "case-failed");
  EXPECT_EQ(event["case"], id);
  EXPECT_EQ(event["rank"], guilty);
  EXPECT_TRUE(event["text"].get<std::string>().starts_with("make backend: ")) << event;
}

TEST_F(MpiRepetition, ForeignFileInTheDatasetsPlaceIsRefusedAndNotRemoved) {
  prepare(test::small_case(id, "disk", "posix"));
  const std::string foreign = run_folder() + "/c-" + id;
  if (world_.root()) test::write_file(foreign, "precious");
  world_.all().barrier();
  const auto report = run();
  EXPECT_FALSE(report.outcome.ok);
  EXPECT_EQ(test::read_file(foreign), "precious");
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 1U) << dump(report);
  EXPECT_TRUE(report.records[0]["text"].get<std::string>().starts_with("begin: ")) << report.records[0];
}

TEST_F(MpiRepetition, RemovalThatFailsIsAFailureOfItsOwn) {
  prepare(fault_case({{"operation", "remove"}, {"kind", "eio"}, {"rank", 0}}));
  const auto report = run();
  EXPECT_TRUE(places_->remove(world_, watchdog_).empty()) << "what the manifest lists goes all the same";
  EXPECT_TRUE(test::names_in(folder_.path() + "/target").empty());
  EXPECT_FALSE(report.outcome.ok);
  EXPECT_EQ(report.outcome.phases.size(), 2U);
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 3U) << dump(report);
  Json event = report.records[2];
  EXPECT_TRUE(event["text"].get<std::string>().starts_with("remove: ")) << event;
  EXPECT_EQ(event["rank"], 0);
}

TEST_F(MpiRepetition, WhatTheReaderMustKnowIsToldOnceACase) {
  prepare(test::small_case(id, "disk", "posix", {{"read_back", "other-node"}}));
  const auto notices = [](const RepetitionReport& report) {
    std::vector<std::string> codes;
    for (const Json& record : report.records)
      if (record["kind"] == "event") codes.push_back(record["code"]);
    return codes;
  };
  const auto first = run(0);
  const auto second = run(1);
  EXPECT_TRUE(first.outcome.ok);
  EXPECT_TRUE(notices(second).empty());
  if (!world_.root()) return;
  EXPECT_EQ(notices(first), std::vector<std::string>{world_.size() == 1 ? "read-back-own" : "read-back-same-node"});
}

TEST_F(MpiRepetition, StopAtOnceIsAnInterruptionNotAFailure) {
  prepare(test::small_case(id, "disk", "posix", {{"block_bytes", 8 << 20}}));
  if (world_.rank() == world_.size() - 1) StopFlags::instance().stop_now();
  const auto report = run();
  EXPECT_TRUE(report.interrupted);
  expect_no_data_left();
  if (!world_.root()) return;
  ASSERT_EQ(report.records.size(), 1U) << dump(report);
  EXPECT_EQ(report.records[0]["status"], "interrupted");
}

TEST_F(MpiRepetition, KeptDatasetMakesWayForTheNextRepetitions) {
  prepare(test::small_case(id, "disk", "posix", {{"verify", "full"}}));
  plan_.keep = true;
  for (const int repetition : {0, 1}) {
    EXPECT_TRUE(run(repetition).outcome.ok);
    EXPECT_EQ(test::read_file(run_folder() + "/c-" + id + "/data").size(),
              static_cast<std::size_t>(world_.size()) * 65536);
    world_.all().barrier();
  }
  plan_.keep = false;
}

TEST_F(MpiRepetition, EachRepetitionHasDataOfItsOwn) {
  prepare(test::small_case(id, "disk", "posix"));
  auto peek = std::make_unique<Peek>("c-" + id + "/data");
  const Peek& seen = *peek;
  probes_.push_back(std::move(peek));
  for (const int repetition : {0, 1, 0}) EXPECT_TRUE(run(repetition).outcome.ok);
  ASSERT_EQ(seen.contents.size(), 3U);
  EXPECT_EQ(seen.contents[0].size(), static_cast<std::size_t>(world_.size()) * 65536);
  EXPECT_NE(seen.contents[0], seen.contents[1]) << "what an earlier repetition left could pass for this one's data";
  EXPECT_TRUE(seen.contents[0] == seen.contents[2]) << "the same seed, run, case and repetition";
}

}  // namespace ullage::repetition_test
