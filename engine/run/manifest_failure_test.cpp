// SPDX-License-Identifier: Apache-2.0
// A manifest that cannot be written on the one rank that keeps it: the case fails on all ranks, its record says why,
// and the cases after it go on.
#include <gtest/gtest.h>

#include "run/repetition.hpp"
#include "run/test_support.hpp"

namespace ullage::manifest_failure_test {

constexpr const char* dataset = "d";

/// Several cases on one target, whose book of datasets is the test's own.
class CasesOnOnePlace {
 public:
  CasesOnOnePlace(const mpi::World& world, const std::string& folder)
      : world_(world), folder_(folder), meter_(StopFlags::instance().now()), watchdog_({}) {
    if (world.root()) std::filesystem::create_directories(folder + "/target");
    world.all().barrier();
  }

  void add(const std::string& workload, const Json& parameters, const std::string& backend = "posix",
           const Json& of_backend = Json::object(), const std::string& of_dataset = dataset) {
    cases_.push_back({{"id", "00000000000000" + std::to_string(10 + cases_.size())},
                      {"target", "disk"},
                      {"dataset", of_dataset},
                      {"backend", {{"name", backend}, {"parameters", of_backend}}},
                      {"workload", {{"name", workload}, {"parameters", parameters}}}});
  }

  /// Collective. `keep` writes the facts of datasets on rank 0; null: into the manifest.
  void prepare(const DatasetFacts::Keep& keep) {
    Json json = test::small_plan(world_, folder_, cases_);
    json["order"] = "listed";
    auto plan = parse_plan(json.dump());
    ASSERT_TRUE(plan.has_value()) << to_line(plan.error());
    plan_ = std::move(*plan);
    auto places = Places::prepare(plan_, world_, watchdog_);
    ASSERT_TRUE(places.has_value()) << to_line(places.error());
    places_ = std::move(*places);
    auto own = RunFolder::open(folder_ + "/target", plan_.run_id);
    ASSERT_TRUE(own.has_value()) << to_line(own.error());
    place_.folder = std::make_unique<RunFolder>(std::move(*own));
    place_.writes_manifest = world_.root();
    place_.part = world_.rank();
    place_.parts = world_.size();
    const auto into_manifest = [this](const std::string& name, const Json& facts) {
      return place_.folder->enter_facts(name, facts);
    };
    if (world_.root())
      place_.datasets = std::make_unique<DatasetFacts>(std::map<std::string, Json>{}, keep ? keep : into_manifest);
  }

  [[nodiscard]] RepetitionReport run(std::size_t index) {
    const RunContext context{&world_, &clock_, &watchdog_, &meter_, {}, 0};
    return run_repetition(context, plan_, plan_.cases.at(index), place_, {index, 0, false}, buffer_);
  }
  [[nodiscard]] std::string run_folder() const { return folder_ + "/target/ullage-r1"; }
  [[nodiscard]] std::string manifest() const { return run_folder() + "/manifest.ndjson"; }
  void remove() { (void)places_->remove(world_, watchdog_); }

 private:
  const mpi::World& world_;
  std::string folder_;
  mpi::CommonClock clock_;
  Meter meter_;
  Watchdog watchdog_;
  AlignedBuffer buffer_;
  std::vector<Json> cases_;
  Plan plan_;
  std::optional<Places> places_;
  Place place_;
};

const Json small_transfer{{"transfer_bytes", 4096}, {"block_bytes", 65536}};

Json with(Json parameters, const Json& more) {
  parameters.update(more);
  return parameters;
}

/// A case that leaves a dataset, and one that has it struck out.
struct Strike {
  std::string name;
  std::string step;  // of the repetition, in which that happens
  std::function<void(CasesOnOnePlace&)> add;
};

Json fault_on(const std::string& inner, const std::string& operation) {
  return {{"inner", inner}, {"operation", operation}, {"kind", "eio"}};
}

const std::vector<Strike>& strikes() {
  static const std::vector<Strike> all{
      {"transfer", "remove",
       [](CasesOnOnePlace& cases) {
         cases.add("transfer", with(small_transfer, {{"phases", {"write"}}}));
         cases.add("transfer", with(small_transfer, {{"phases", {"write"}}}), "fault", fault_on("posix", "write"));
       }},
      {"metadata", "remove",
       [](CasesOnOnePlace& cases) {
         cases.add("metadata", {{"items", 5}, {"phases", {"tree-create", "create"}}});
         cases.add("metadata", {{"items", 5}, {"phases", {"unlink", "tree-remove"}}});
       }},
      {"mixed_metadata", "remove",
       [](CasesOnOnePlace& cases) {
         cases.add("mixed-metadata", {{"sets", 2}, {"objects", 5}, {"phases", {"precreate"}}});
         cases.add("mixed-metadata", {{"sets", 2}, {"objects", 5}, {"phases", {"cleanup"}}});
       }},
      {"b_eff_io_begin", "begin",
       [](CasesOnOnePlace& cases) {
         const Json write{{"type", "scatter"}, {"access", "write"}, {"lmax_bytes", 16384}, {"unit_s", 1e-4}};
         cases.add("b-eff-io", write, "null");
         cases.add("b-eff-io", write, "null");
       }},
      {"b_eff_io_end", "remove",
       [](CasesOnOnePlace& cases) {
         const Json write{{"type", "scatter"}, {"access", "write"}, {"lmax_bytes", 16384}, {"unit_s", 1e-4}};
         cases.add("b-eff-io", write, "null");
         cases.add("b-eff-io", with(write, {{"access", "rewrite"}}), "fault", fault_on("null", "write"));
       }},
      {"find", "remove",
       [](CasesOnOnePlace& cases) {
         cases.add("find", {{"phases", {"timestamp"}}});
         cases.add("find", {{"phases", {"timestamp", "find"}}, {"within", "nowhere"}});
       }},
  };
  return all;
}

struct Failing {
  std::size_t strike = 0;
  int errno_value = 0;
};

class MpiManifestFailure : public ::testing::TestWithParam<Failing> {
 protected:
  test::KeptSignals kept_;
  mpi::World world_;
  test::SharedFolder folder_{world_};
};

TEST_P(MpiManifestFailure, FailsTheCaseOnAllRanksAndThePlanGoesOn) {
  const Strike& strike = strikes().at(GetParam().strike);
  CasesOnOnePlace cases(world_, folder_.path());
  strike.add(cases);
  cases.add("transfer", small_transfer, "posix", Json::object(), "");
  // Only what is struck out fails to be written.
  cases.prepare([&](const std::string&, const Json& facts) -> Status {
    if (!facts.is_null()) return {};
    return fail(errno_error(GetParam().errno_value, "write", cases.manifest()));
  });
  if (HasFatalFailure()) return;
  const auto made = cases.run(0);
  EXPECT_TRUE(made.outcome.ok) << Json(made.records).dump(1);
  const auto report = cases.run(1);
  EXPECT_FALSE(report.outcome.ok);
  const auto after = cases.run(2);
  EXPECT_TRUE(after.outcome.ok) << Json(after.records).dump(1);
  cases.remove();
  if (!world_.root()) return;
  EXPECT_TRUE(test::names_in(folder_.path() + "/target").empty());
  ASSERT_FALSE(report.records.empty());
  const Json& event = report.records.back();
  EXPECT_EQ(event.value("code", ""), "case-failed") << event;
  EXPECT_EQ(event.value("rank", -1), 0);
  const std::string text = event.value("text", "");
  EXPECT_TRUE(text.starts_with(strike.step + ": ")) << text;
  EXPECT_NE(text.find(cases.manifest()), std::string::npos) << text;
  EXPECT_NE(text.find("(errno " + std::to_string(GetParam().errno_value) + ")"), std::string::npos) << text;
}

std::vector<Failing> all_failing() {
  std::vector<Failing> all;
  for (std::size_t i = 0; i < strikes().size(); ++i)
    for (const int errno_value : {ENOSPC, EDQUOT}) all.push_back({i, errno_value});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Strikes, MpiManifestFailure, ::testing::ValuesIn(all_failing()), [](const auto& tested) {
  return strikes().at(tested.param.strike).name + (tested.param.errno_value == ENOSPC ? "_enospc" : "_edquot");
});

/// A target on a file system of its own, which can be filled to the last page.
class MpiFullFileSystem : public ::testing::Test {
 protected:
  MpiFullFileSystem() {
    if (world_.root()) small_ = std::make_unique<test::SmallFileSystem>("size=1m");
    is_there_ = world_.all().broadcast(small_ && small_->mounted() ? 1 : 0, 0) != 0;
    path_ = world_.all().broadcast(small_ ? small_->path() : std::string(), 0);
  }
  void SetUp() override {
    if (!is_there_) GTEST_SKIP() << "a tmpfs cannot be mounted here";
  }
  /// Collective. The manifest ends with a page, so that its next line needs one.
  void fill(const std::string& manifest) {
    if (world_.root()) {
      constexpr std::size_t page = 4096;
      std::ofstream(manifest, std::ios::app) << std::string(page - std::filesystem::file_size(manifest) % page, '\n');
      std::ofstream filler(path_ + "/filler");
      while (filler << std::string(page, 'x') && filler.flush());
    }
    world_.all().barrier();
  }
  void empty() {
    if (world_.root()) std::filesystem::remove(path_ + "/filler");
    world_.all().barrier();
  }
  void expect_no_space(const RepetitionReport& report, const std::string& step, const std::string& manifest) {
    EXPECT_FALSE(report.outcome.ok);
    if (!world_.root()) return;
    ASSERT_FALSE(report.records.empty());
    const std::string text = report.records.back().value("text", "");
    EXPECT_TRUE(text.starts_with(step + ": rank 0 ")) << text;
    EXPECT_NE(text.find("write " + manifest + ": No space left on device (errno 28)"), std::string::npos) << text;
  }

  test::KeptSignals kept_;
  mpi::World world_;
  std::unique_ptr<test::SmallFileSystem> small_;
  bool is_there_ = false;
  std::string path_;
};

TEST_F(MpiFullFileSystem, FailsWhatNeedsTheManifestAndThenGoesOn) {
  CasesOnOnePlace cases(world_, path_);
  const Json items{{"items", 3}};
  cases.add("metadata", with(items, {{"phases", {"tree-create", "create"}}}));
  cases.add("metadata", with(items, {{"phases", {"unlink", "tree-remove"}}}));
  cases.add("metadata", items, "posix", Json::object(), "");
  cases.prepare(nullptr);
  if (HasFatalFailure()) return;
  EXPECT_TRUE(cases.run(0).outcome.ok);
  fill(cases.manifest());
  expect_no_space(cases.run(1), "remove", cases.manifest());
  expect_no_space(cases.run(2), "begin", cases.manifest());
  empty();
  EXPECT_TRUE(cases.run(2).outcome.ok);
  cases.remove();
  world_.all().barrier();
}

}  // namespace ullage::manifest_failure_test
