// SPDX-License-Identifier: Apache-2.0
#include "run/launch_records.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <latch>

#include "run/test_support.hpp"

namespace ullage::launch_records_test {

/// A run record of two pinned ranks whose clocks agree.
Json quiet_run() {
  return {{"layout", {{"ranks", 2}, {"threads", 1}}},
          {"clock", {{"largest_offset_ns", 0}, {"largest_offset_rank", 0}, {"residual_ns", 0}}},
          {"pinning",
           {{"oversubscribed", false}, {"most_ranks_on_a_node", 2}, {"cores_available", 4}, {"unpinned_ranks", 0}}}};
}

/// The events of the quiet run with some members set.
std::vector<Json> events_with(const std::vector<std::pair<std::string, Json>>& members) {
  Json run = quiet_run();
  for (const auto& [pointer, value] : members) run[Json::json_pointer(pointer)] = value;
  auto events = launch_events(run);
  for (const Json& event : events) {
    EXPECT_EQ(event["kind"], "event");
    EXPECT_EQ(event["severity"], "warning");
    EXPECT_FALSE(event["advice"].get<std::string>().empty());
  }
  return events;
}

std::vector<std::string> codes_with(const std::vector<std::pair<std::string, Json>>& members) {
  std::vector<std::string> codes;
  for (const Json& event : events_with(members)) codes.push_back(event["code"]);
  return codes;
}

bool tells(const Json& event, const std::string& words) {
  return event["text"].get<std::string>().find(words) != std::string::npos;
}

using Codes = std::vector<std::string>;

TEST(LaunchEvents, QuietRunHasNone) { EXPECT_EQ(codes_with({}), Codes{}); }

TEST(LaunchEvents, OversubscriptionIsToldWithItsNumbers) {
  const auto events = events_with(
      {{"/pinning/oversubscribed", true}, {"/pinning/most_ranks_on_a_node", 9}, {"/pinning/unpinned_ranks", 9}});
  ASSERT_EQ(events.size(), 1U) << "ranks without a core each cannot be pinned to one: not told twice";
  EXPECT_EQ(events[0]["code"], "oversubscribed");
  EXPECT_TRUE(tells(events[0], "9 ranks")) << events[0];
  EXPECT_TRUE(tells(events[0], "4 cores")) << events[0];
}

TEST(LaunchEvents, UnpinnedRanksMatterWhereThereAreSeveral) {
  const auto events = events_with({{"/pinning/unpinned_ranks", 1}});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0]["code"], "unpinned");
  EXPECT_TRUE(tells(events[0], "1 ranks"));
  EXPECT_EQ(codes_with({{"/pinning/unpinned_ranks", 1}, {"/layout/ranks", 1}}), Codes{});
}

TEST(LaunchEvents, RanksWhoseThreadsLackCoresAreToldAlikeHoweverManyThereAre) {
  const auto two = events_with({{"/pinning/unpinned_ranks", 2}, {"/layout/threads", 3}});
  const auto four = events_with({{"/pinning/unpinned_ranks", 4},
                                 {"/pinning/most_ranks_on_a_node", 4},
                                 {"/layout/ranks", 4},
                                 {"/layout/threads", 2}});
  ASSERT_EQ(two.size(), 1U);
  EXPECT_EQ(two[0]["code"], "unpinned");
  EXPECT_TRUE(tells(two[0], "fewer cores than threads")) << two[0];
  EXPECT_EQ(two, four);
}

TEST(LaunchEvents, ClocksMoreThanASecondApartAreNamedByRank) {
  EXPECT_EQ(codes_with({{"/clock/largest_offset_ns", 1'000'000'000}}), Codes{});
  for (const std::int64_t offset : {1'000'000'001LL, -1'000'000'001LL}) {
    const auto events = events_with({{"/clock/largest_offset_ns", offset}, {"/clock/largest_offset_rank", 1}});
    ASSERT_EQ(events.size(), 1U) << offset;
    EXPECT_EQ(events[0]["code"], "clock-skew");
    EXPECT_EQ(events[0]["rank"], 1);
    EXPECT_TRUE(tells(events[0], std::to_string(offset)));
  }
}

TEST(LaunchEvents, OffsetsThatAreHardlyKnownAreToldOfTheirOwn) {
  EXPECT_EQ(codes_with({{"/clock/residual_ns", 1'000'000}}), Codes{});
  EXPECT_EQ(codes_with({{"/clock/residual_ns", 1'000'001}}), Codes{"clock-residual"});
  EXPECT_EQ(codes_with({{"/clock/residual_ns", 2'000'000}, {"/clock/largest_offset_ns", 5'000'000'000}}),
            (Codes{"clock-skew", "clock-residual"}));
}

PlannedCase planned_case() {
  return {
      "0123456789abcdef", "disk", {"posix", {{"direct", true}}}, {"transfer", {{"transfer_bytes", 4096}}}, "", {}, {}};
}

RepetitionReport report_of(bool ok, char grade = 'A') {
  RepetitionReport report;
  report.outcome.ok = ok;
  report.outcome.grade = grade;
  report.outcome.elapsed_ns = 77;
  return report;
}

TEST(CaseRecord, SaysWhatWasDoneAndWhatComesNext) {
  const Json record = case_record(planned_case(), {0, 4, true}, report_of(true, 'B'), {"", 0.125});
  EXPECT_EQ(record, Json::parse(R"({
    "kind": "case", "case": "0123456789abcdef", "repetition": 4, "warmup": true, "status": "ok", "grade": "B",
    "stop": "", "relative_width": 0.125, "target": "disk", "backend": "posix", "workload": "transfer",
    "backend_parameters": {"direct": true}, "workload_parameters": {"transfer_bytes": 4096}, "elapsed_ns": 77})"));
}

TEST(CaseRecord, NoIntervalIsNoMember) {
  EXPECT_FALSE(case_record(planned_case(), {}, report_of(true), {"count", {}}).contains("relative_width"));
}

TEST(CaseRecord, StatusFollowsTheOutcome) {
  const Json failed = case_record(planned_case(), {}, report_of(false), {"failed", {}});
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["stop"], "failed");
  RepetitionReport report = report_of(true);
  report.interrupted = true;
  const Json interrupted = case_record(planned_case(), {}, report, {});
  EXPECT_EQ(interrupted["status"], "interrupted");
  EXPECT_EQ(interrupted["stop"], "interrupted");
}

TEST(FailureLine, LeavesOutWhatIsNotKnown) {
  Json failure{{"rank", 3}, {"node", "n1"}, {"operation", "write"}, {"path", "/a"}, {"errno", 5}, {"text", "bad"}};
  EXPECT_EQ(failure_line(failure), "rank 3 on n1: write /a: bad (errno 5)");
  failure["path"] = "";
  failure["errno"] = 0;
  EXPECT_EQ(failure_line(failure), "rank 3 on n1: write: bad");
}

class TimeoutRecords : public ::testing::Test {
 protected:
  TimeoutRecords() {
    plan_.records = folder_.path() + "/r.ndjson";
    plan_.watchdog_s = 120;
    plan_.cases = {planned_case(), planned_case()};
    plan_.cases[1].id = "0123456789abcde0";
  }
  void hang_on(int rank) {
    const std::string node = "n" + std::to_string(rank);
    wrote_ = write_timeout_records(plan_, {plan_.cases[0].id, 1}, tally_,
                                   {rank, node, "no progress for 120 s in write: sync"}, 5'000);
  }
  [[nodiscard]] std::vector<Json> records() const {
    std::vector<Json> all;
    std::istringstream lines(test::read_file(plan_.records));
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }
  [[nodiscard]] std::vector<std::string> kinds() const {
    std::vector<std::string> names;
    for (const Json& record : records()) names.push_back(record["kind"]);
    return names;
  }

  test::TempFolder folder_;
  Plan plan_;
  CaseCounts tally_;
  std::atomic<bool> wrote_ = false;
};

const std::vector<std::string> one_timeout{"event", "case", "end"};

TEST_F(TimeoutRecords, NameTheRankTheCaseAndTheEnd) {
  hang_on(3);
  ASSERT_EQ(kinds(), one_timeout);
  const auto all = records();
  EXPECT_EQ(all[0]["code"], "timeout");
  EXPECT_EQ(all[0]["rank"], 3);
  EXPECT_EQ(all[0]["node"], "n3");
  EXPECT_EQ(all[0]["case"], plan_.cases[0].id);
  EXPECT_TRUE(tells(all[0], "120 s in write: sync")) << all[0];
  EXPECT_EQ(all[1]["case"], plan_.cases[0].id);
  EXPECT_EQ(all[1]["status"], "timeout");
  EXPECT_EQ(all[1]["stop"], "timeout");
  EXPECT_EQ(all[1]["repetition"], 1);
  EXPECT_EQ(all[2]["status"], "timeout");
  EXPECT_EQ(all[2]["elapsed_ns"], 5'000);
}

TEST_F(TimeoutRecords, CountWhatWasGoodBefore) {
  tally_.count("other", true);
  tally_.count("other", true);
  tally_.count("bad", false);
  tally_.count(plan_.cases[0].id, true);
  hang_on(2);
  const Json end = records().back();
  EXPECT_EQ(end["cases_ok"], 1) << "the case that hangs is none of them";
  EXPECT_EQ(end["cases_failed"], 2);
  EXPECT_EQ(end["repetitions"], 3);
}

TEST_F(TimeoutRecords, BetweenCasesNameNone) {
  write_timeout_records(plan_, {}, tally_, {1, "n1", "no progress"}, 1);
  EXPECT_EQ(kinds(), (std::vector<std::string>{"event", "end"}));
  EXPECT_FALSE(records()[0].contains("case"));
}

TEST_F(TimeoutRecords, SecondRankAddsNothing) {
  hang_on(0);
  EXPECT_TRUE(wrote_);
  hang_on(1);
  EXPECT_FALSE(wrote_) << "it waits for the first one before it ends anybody";
  EXPECT_EQ(kinds(), one_timeout);
  EXPECT_EQ(records()[0]["rank"], 0) << "the first one tells";
}

TEST_F(TimeoutRecords, RanksAtTheSameTimeWriteOneEnd) {
  constexpr int ranks = 8;
  std::latch ready(ranks);
  {
    std::vector<std::jthread> hung;
    for (int rank = 0; rank < ranks; ++rank)
      hung.emplace_back([&, rank] {
        ready.arrive_and_wait();
        hang_on(rank);
      });
  }
  EXPECT_EQ(kinds(), one_timeout);
}

TEST_F(TimeoutRecords, GoBehindWhatIsThere) {
  test::write_file(plan_.records, "{\"kind\":\"run\"}\n");
  hang_on(0);
  EXPECT_EQ(kinds(), (std::vector<std::string>{"run", "event", "case", "end"}));
}

TEST_F(TimeoutRecords, FolderThatIsGoneDoesNoHarm) {
  plan_.records = folder_.path() + "/missing/r.ndjson";
  hang_on(0);
  EXPECT_TRUE(test::names_in(folder_.path()).empty());
}

class MpiLaunchRecords : public ::testing::Test {
 protected:
  [[nodiscard]] Json record(bool pinned, int cores) {
    Plan plan;
    plan.run_id = "r1";
    plan.suite = "s";
    plan.layout.threads = 2;
    plan.layout.binding = "core";
    return run_record(plan, {"/p/plan.json"}, world_, clock_, {pinned, cores}, 99);
  }
  mpi::World world_;
  mpi::ClockSync clock_;
};

TEST_F(MpiLaunchRecords, RunRecordDescribesTheLaunch) {
  clock_.largest_residual_ns = 11;
  const Json run = record(true, world_.size());
  if (!world_.root()) return;
  EXPECT_EQ(run["kind"], "run");
  EXPECT_EQ(run["schema"], "ullage.record/1");
  EXPECT_EQ(run["run_id"], "r1");
  EXPECT_EQ(run["plan"], "/p/plan.json");
  EXPECT_EQ(run["origin_ns"], 99);
  EXPECT_EQ(run["layout"]["ranks"], world_.size());
  EXPECT_EQ(run["layout"]["nodes"], 1);
  EXPECT_EQ(run["layout"]["threads"], 2);
  EXPECT_EQ(run["layout"]["binding"], "core");
  EXPECT_EQ(run["clock"]["residual_ns"], 11);
  EXPECT_EQ(run["pinning"]["pinned_ranks"], world_.size());
  EXPECT_EQ(run["pinning"]["unpinned_ranks"], 0);
  EXPECT_FALSE(run["pinning"]["oversubscribed"].get<bool>());
  EXPECT_TRUE(launch_events(run).empty());
  const auto started = run["started"].get<std::string>();
  EXPECT_EQ(started.size(), std::string("2025-01-01T00:00:00Z").size()) << started;
  EXPECT_EQ(started.back(), 'Z');
}

TEST_F(MpiLaunchRecords, OneUnpinnedRankIsCounted) {
  const Json run = record(!world_.root(), world_.size());
  if (!world_.root()) return;
  EXPECT_EQ(run["pinning"]["unpinned_ranks"], world_.size() > 1 ? 1 : 0) << "alone, its two threads have all cores";
  EXPECT_EQ(launch_events(run).size(), world_.size() > 1 ? 1U : 0U);
}

TEST_F(MpiLaunchRecords, OneRankWithTooFewCoresMakesItOversubscribed) {
  const bool last = world_.rank() == world_.size() - 1;
  const Json run = record(true, last ? world_.size() - 1 : 64);
  if (!world_.root()) return;
  EXPECT_TRUE(run["pinning"]["oversubscribed"].get<bool>());
  EXPECT_EQ(run["pinning"]["cores_available"], world_.size() - 1);
}

TEST_F(MpiLaunchRecords, StoppingTheNodeReachesEachOfItsRanks) {
  const test::KeptSignals kept;
  StopFlags::instance().install();
  const auto stop = stop_node(world_);
  world_.all().barrier();
  if (world_.topology().leader()) stop();
  for (int waited_ms = 0; waited_ms < 20'000 && !StopFlags::instance().requested(); waited_ms += 10)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(StopFlags::instance().requested());
  EXPECT_FALSE(StopFlags::instance().now().load()) << "one request, not two";
  world_.all().barrier();
}

class RecordWriterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "ullage-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(RecordWriterTest, AppendsALineARecord) {
  const std::string path = folder_ / "r.ndjson";
  for (int launch = 0; launch < 2; ++launch) {
    auto writer = RecordWriter::open(path);
    ASSERT_TRUE(writer.has_value());
    writer->write({{"kind", "event"}, {"text", "a\nb \"quoted\" <script>"}});
    EXPECT_TRUE(writer->status().has_value());
  }
  std::ifstream file(path);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) {
    ++lines;
    EXPECT_EQ(Json::parse(line)["text"], "a\nb \"quoted\" <script>");
  }
  EXPECT_EQ(lines, 2);
}

TEST_F(RecordWriterTest, BytesThatAreNoUtf8DoNotLoseTheRecord) {
  const std::string path = folder_ / "r.ndjson";
  auto writer = RecordWriter::open(path);
  ASSERT_TRUE(writer.has_value());
  writer->write({{"path", "/tmp/\xff\xfe"}});
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(Json::parse(text.str())["path"].get<std::string>().starts_with("/tmp/"));
}

TEST_F(RecordWriterTest, MissingFolderIsAnEnvironmentError) {
  const auto writer = RecordWriter::open(folder_ / "missing" / "r.ndjson");
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().kind, ErrorKind::environment);
}

TEST_F(RecordWriterTest, FullDeviceIsRememberedNotIgnored) {
  auto writer = RecordWriter::open("/dev/full");
  if (!writer) GTEST_SKIP() << "no /dev/full here";
  writer->write({{"kind", "end"}});
  ASSERT_FALSE(writer->status().has_value());
  EXPECT_EQ(writer->status().error().errno_value, ENOSPC);
}

}  // namespace ullage::launch_records_test
