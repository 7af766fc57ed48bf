// SPDX-License-Identifier: Apache-2.0
// What the workload does around its phases: room, the timestamp's dataset, removal.
#include "storage/workloads/find/find.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "storage/workloads/find/test_support.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::find_test {
namespace {

const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("find"); }

const Value both = std::vector<std::string>{"timestamp", "find"};
const Value timestamp_only = std::vector<std::string>{"timestamp"};

Values values_of(const Values& given) {
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

TEST(Find, TimestampNeedsAFileAndADirectory) {
  const PlannedLayout layout{.ranks = 7, .nodes = {}, .ranks_per_node = {}};
  const Needs making = entry().needs(values_of({{"phases", both}}), layout);
  const Needs finding = entry().needs(values_of({}), layout);
  EXPECT_EQ(making.inodes, 1U);
  EXPECT_EQ(making.directories, 1U);
  EXPECT_EQ(finding.inodes + finding.directories, 0U);
  EXPECT_EQ(finding.bytes, 0U);
  EXPECT_GT(making.bytes, 0U);
}

TEST(Find, OnlyNewerWithoutATimestampOfItsOwnUsesADataset) {
  EXPECT_TRUE(entry().uses_dataset(values_of({{"newer", true}})));
  EXPECT_FALSE(entry().uses_dataset(values_of({{"newer", true}, {"phases", both}})));
  EXPECT_FALSE(entry().uses_dataset(values_of({})));
  EXPECT_FALSE(entry().uses_dataset(values_of({{"phases", timestamp_only}})));
}

class MpiFind : public test::StorageWorkloadTest {
 protected:
  MpiFind() : StorageWorkloadTest("00000000000000a1") { use("posix"); }

  /// Collective: begin, all phases, end. The records, on every rank.
  Json run(const Values& given, const std::string& dataset, bool whole = true) {
    StorageContext bound = context();
    bound.dataset = dataset;
    bound.datasets = &book_;
    const auto workload = std::get<StorageWork>(entry().work).make(values_of(given), bound);
    return run_phases(*workload, {}, whole);
  }
  [[nodiscard]] std::vector<std::string> left() const { return test::names_in(bench_.folder().path()); }

  const std::vector<std::string> nothing{".ullage-run", "manifest.ndjson"};
  DatasetFacts book_;
};

TEST_F(MpiFind, TimestampOfItsOwnIsListedAndRemoved) {
  const Json records = run({{"phases", both}, {"name", std::string("data")}, {"newer", true}}, "");
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[1]["counters"]["scanned"], 5) << "folder, marker, manifest, c-, data";
  EXPECT_EQ(records[1]["counters"]["found"], 0) << "the timestamp is not newer than itself";
  EXPECT_EQ(left(), nothing);
  const auto listed = parse_manifest(test::read_file(bench_.path("manifest.ndjson")));
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].file_name(0), "c-00000000000000a1/data");
  EXPECT_EQ(listed[0].files, 1U);
}

TEST_F(MpiFind, NamedTimestampIsThereForLaterCases) {
  (void)run({{"phases", timestamp_only}}, "stamp");
  EXPECT_NE(book_.find("stamp"), nullptr);
  EXPECT_EQ(test::names_in(bench_.path("stamp")), std::vector<std::string>{"data"});
  const Json records = run({{"newer", true}, {"name", std::string("data")}}, "stamp");
  EXPECT_EQ(records[0]["status"], "ok");
  EXPECT_EQ(test::names_in(bench_.path("stamp")), std::vector<std::string>{"data"});
  (void)run({{"phases", timestamp_only}}, "stamp");  // a second repetition
  EXPECT_NE(book_.find("stamp"), nullptr);
}

TEST_F(MpiFind, TimestampOfACaseThatFailedIsGone) {
  (void)run({{"phases", timestamp_only}}, "stamp", false);
  EXPECT_EQ(book_.find("stamp"), nullptr);
  EXPECT_EQ(left(), nothing);
  (void)run({{"newer", true}}, "stamp", false);
  EXPECT_EQ(left(), nothing);
}

}  // namespace
}  // namespace ullage::find_test

namespace ullage::find_parameters_test {
namespace {

const Value both = std::vector<std::string>{"timestamp", "find"};
const Value timestamp_only = std::vector<std::string>{"timestamp"};

Status check(const Values& given, const Capabilities& capabilities = {}) {
  const auto values = complete(specs_of(FindParameters::table()), given, "/p");
  return values ? check_find(bind_parameters<FindParameters>(*values), capabilities, "/p") : fail(values.error());
}

TEST(FindParameters, DefaultsFindEverything) {
  const auto values = complete(specs_of(FindParameters::table()), {}, "");
  ASSERT_TRUE(values.has_value());
  const auto parameters = bind_parameters<FindParameters>(*values);
  EXPECT_TRUE(parameters.finds());
  EXPECT_FALSE(parameters.makes_timestamp());
  EXPECT_TRUE(check({}).has_value());
}

TEST(FindParameters, WhatGnuFindTakesIsTaken) {
  EXPECT_TRUE(check({{"phases", both},
                     {"within", std::string("mdtest-easy_1")},
                     {"name", std::string("*01*")},
                     {"newer", true},
                     {"size", std::string("+3901c")}})
                  .has_value());
  EXPECT_TRUE(check({{"phases", timestamp_only}}).has_value());
}

TEST(FindParameters, RefusalsPointToTheParameter) {
  const std::vector<std::pair<Values, std::string>> cases{
      {{{"phases", std::vector<std::string>{"find", "timestamp"}}}, "/p/phases"},
      {{{"phases", std::vector<std::string>{"find", "find"}}}, "/p/phases"},
      {{{"phases", std::vector<std::string>{"timestamp", "find", "find"}}}, "/p/phases"},
      {{{"phases", timestamp_only}, {"name", std::string("x")}}, "/p/name"},
      {{{"phases", timestamp_only}, {"within", std::string("x")}}, "/p/within"},
      {{{"phases", timestamp_only}, {"size", std::string("1c")}}, "/p/size"},
      {{{"phases", timestamp_only}, {"newer", true}}, "/p/newer"},
      {{{"within", std::string("../x")}}, "/p/within"},
      {{{"within", std::string(65, 'x')}}, "/p/within"},
      {{{"name", std::string("a\0b", 3)}}, "/p/name"},
      {{{"size", std::string("3901q")}}, "/p/size"}};
  for (const auto& [given, pointer] : cases) {
    const auto status = check(given);
    ASSERT_FALSE(status.has_value()) << pointer;
    EXPECT_EQ(status.error().kind, ErrorKind::bad_plan);
    EXPECT_EQ(status.error().where, pointer) << to_line(status.error());
  }
}

TEST(FindParameters, BackendWithoutFilesIsRefused) {
  EXPECT_FALSE(check({}, {.path = false, .data = false}).has_value());
  EXPECT_FALSE(check({}, {.path = true, .data = false}).has_value());
}

}  // namespace
}  // namespace ullage::find_parameters_test

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

class MpiFindPhase : public test::StorageWorkloadTest {
 protected:
  MpiFindPhase() : StorageWorkloadTest("a1") {
    use("posix");
    context_ = context();
    context_.dataset = "stamp";
    context_.datasets = &book_;
    if (world().root()) std::filesystem::create_directories(bench_.path("c-stamp"));
  }

  /// Collective; the record on every rank.
  Json run(PhaseWork& work) {
    world().all().barrier();
    Json record;
    status_ = run_phase(run_context(), &bench_.folder(), work, record).status;
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

  DatasetFacts book_;
  StorageContext context_;
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
class FewDescriptors final : Pinned {
 public:
  explicit FewDescriptors(rlim_t spare) {
    getrlimit(RLIMIT_NOFILE, &was_);
    const Descriptor lowest_free(::open("/", O_PATH | O_CLOEXEC));
    const rlimit now{static_cast<rlim_t>(lowest_free.get()) + spare, was_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &now), 0);
  }
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
