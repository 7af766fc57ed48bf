// SPDX-License-Identifier: Apache-2.0
// What the workload does around its phases: room, refusals, whose data is read, removal.
#include <gtest/gtest.h>

#include "base/test_support.hpp"
#include "run/phase_runner.hpp"
#include "run/test_support.hpp"
#include "storage/forwarding_backend.hpp"
#include "work/workload.hpp"

namespace ullage::transfer_test {

const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("transfer"); }

Values values_of(Values given) {
  given.emplace("transfer_bytes", 4096);
  given.emplace("block_bytes", 16384);
  const auto values = complete(entry().description.parameters, given, "");
  EXPECT_TRUE(values.has_value()) << test::line_of(values);
  return values.value_or(Values{});
}

const Value per_process = std::string("per-process");
const Value shared = std::string("shared");

Needs needs_of(const Values& given, int ranks) {
  const PlannedLayout layout{.ranks = ranks, .nodes = {}, .ranks_per_node = {}};
  return entry().needs(values_of(given), layout);
}

TEST(TransferNeeds, BytesAreThoseOfTheWholeDataset) {
  EXPECT_EQ(needs_of({}, 1).bytes, 16384U);
  EXPECT_EQ(needs_of({{"segments", 3}}, 5).bytes, 3U * 5 * 16384);
  EXPECT_EQ(needs_of({{"file_mode", per_process}}, 5).bytes, 5U * 16384);
  EXPECT_EQ(needs_of({{"phases", std::vector<std::string>{"write", "rewrite", "read"}}}, 5).bytes, 5U * 16384)
      << "a rewrite takes no further room";
}

TEST(TransferNeeds, InodesCountFilesAndDirectories) {
  EXPECT_EQ(needs_of({}, 5).inodes, 1U);
  EXPECT_EQ(needs_of({}, 5).directories, 1U);
  EXPECT_EQ(needs_of({{"file_mode", per_process}}, 5).inodes, 5U);
  EXPECT_EQ(needs_of({{"file_mode", per_process}, {"directory_per_process", true}}, 5).inodes, 10U);
}

/// Forwards to another backend, states an alignment, and remembers what was opened for reading.
class Watched final : public ForwardingBackend {
 public:
  Watched(std::unique_ptr<Backend> inner, std::size_t alignment_bytes)
      : ForwardingBackend(std::move(inner)), alignment_bytes_(alignment_bytes) {}
  [[nodiscard]] Capabilities capabilities() const override {
    Capabilities capabilities = ForwardingBackend::capabilities();
    capabilities.alignment_bytes = alignment_bytes_;
    return capabilities;
  }
  [[nodiscard]] Result<std::unique_ptr<File>> open(const OpenRequest& request) override {
    if (request.mode == OpenMode::read) read_names.push_back(request.name);
    return inner().open(request);
  }

  std::vector<std::string> read_names;

 private:
  std::size_t alignment_bytes_;
};

const std::string id = "00000000000000a1";

class MpiTransfer : public ::testing::Test {
 protected:
  MpiTransfer() : meter_(StopFlags::instance().now()), watchdog_({}) { use("posix"); }

  void use(const std::string& backend, const Values& given = {}, std::size_t alignment_bytes = 1) {
    backend_ = std::make_unique<Watched>(bench_.make(backend, given), alignment_bytes);
  }
  [[nodiscard]] std::unique_ptr<Workload> make(const Values& given, const mpi::World& world) {
    StorageContext bound;
    bound.world = &world;
    bound.folder = &bench_.folder();
    bound.backend = backend_.get();
    bound.buffer = &buffer_;
    bound.case_id = id;
    bound.run_key = 42;
    bound.writes_manifest = world.root();
    return std::get<StorageWork>(entry().work).make(values_of(given), bound);
  }

  /// Collective. begin, all phases, end, whatever fails; the records of the phases that were run, on every rank.
  Json run(const Values& given, const mpi::World& world) {
    const auto workload = make(given, world);
    status_ = PhaseStatus::ok;
    EXPECT_TRUE(begin_together(*workload, world.all()).everywhere);
    Json records = Json::array();
    const RunContext context{&world, &clock_, &watchdog_, &meter_, {}, 0};
    for (std::size_t i = 0; i < workload->phases() && status_ == PhaseStatus::ok; ++i) {
      const auto work = workload->phase(i);
      Json record;
      status_ = run_phase(context, &bench_.folder(), *work, record).status;
      records.push_back(record);
    }
    ended_ = end_together(*workload, true, world.all()).own;
    return Json::parse(world.all().broadcast(records.dump(), 0));
  }
  Json run(const Values& given) { return run(given, world()); }

  [[nodiscard]] const mpi::World& world() const { return bench_.world(); }
  [[nodiscard]] static std::string file_of(int rank) {
    return DatasetEntry{id, "c-" + id, 1, true, false}.file_name(static_cast<std::uint64_t>(rank));
  }
  void expect_no_data_left() {
    world().all().barrier();
    EXPECT_EQ(test::names_in(bench_.folder().path()), (std::vector<std::string>{".ullage-run", "manifest.ndjson"}));
    world().all().barrier();
  }

  test::KeptSignals kept_;
  test::Bench bench_;
  std::unique_ptr<Watched> backend_;
  mpi::CommonClock clock_;
  AlignedBuffer buffer_;
  Meter meter_;
  Watchdog watchdog_;
  PhaseStatus status_ = PhaseStatus::ok;
  Status ended_;
};

TEST_F(MpiTransfer, WrongSizeForDirectIoIsRefusedBeforeAnythingIsMade) {
  use("posix", {}, 8192);
  const auto workload = make({{"file_mode", per_process}, {"directory_per_process", true}}, world());
  const auto status = begin_together(*workload, world().all()).own;
  ASSERT_FALSE(status.has_value());
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
  const std::string line = to_line(status.error());
  EXPECT_NE(line.find("4096"), std::string::npos) << line;
  EXPECT_NE(line.find("multiple of 8192"), std::string::npos) << line;
  EXPECT_TRUE(end_together(*workload, true, world().all()).everywhere);
  expect_no_data_left();
  EXPECT_EQ(test::read_file(bench_.path("manifest.ndjson")), "");
}

TEST_F(MpiTransfer, MultipleOfTheAlignmentIsAccepted) {
  use("posix", {}, 2048);
  (void)run({});
  EXPECT_EQ(status_, PhaseStatus::ok);
}

TEST_F(MpiTransfer, DatasetIsListedBeforeItsFirstFileIsMade) {
  const auto workload = make({{"file_mode", per_process}, {"directory_per_process", true}}, world());
  ASSERT_TRUE(begin_together(*workload, world().all()).everywhere);
  const DatasetEntry wanted{id, "c-" + id, static_cast<std::uint64_t>(world().size()), true, true};
  EXPECT_EQ(parse_manifest(test::read_file(bench_.path("manifest.ndjson"))), std::vector<DatasetEntry>{wanted});
  EXPECT_EQ(test::names_in(bench_.path("c-" + id)).size(), static_cast<std::size_t>(world().size()))
      << "a directory for each rank";
  world().all().barrier();
  EXPECT_TRUE(end_together(*workload, true, world().all()).everywhere);
  expect_no_data_left();
}

TEST_F(MpiTransfer, EveryFileModeReadsBackWhatItWroteAndLeavesNothing) {
  for (const Values& mode : {Values{{"file_mode", shared}}, Values{{"file_mode", per_process}},
                             Values{{"file_mode", per_process}, {"directory_per_process", true}}}) {
    Values given = mode;
    given.emplace("verify", std::string("full"));
    given.emplace("read_back", std::string("other-rank"));
    const auto records = run(given);
    EXPECT_EQ(status_, PhaseStatus::ok);
    EXPECT_TRUE(ended_.has_value()) << test::line_of(ended_);
    expect_no_data_left();
    EXPECT_EQ(records[1]["verified_bytes"], static_cast<std::uint64_t>(world().size()) * 16384);
  }
}

TEST_F(MpiTransfer, MemoryOfARankThatWasPlacedIsNotHandedOn) {
  (void)run({{"file_mode", per_process}});
  EXPECT_GT(buffer_.size(), 0U);
  (void)run({{"file_mode", per_process}, {"numa_path", std::string("as-is")}});
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_EQ(buffer_.size(), 0U);
}

TEST_F(MpiTransfer, AThreadOfOneRankThatDoesNotStartFailsTheCaseForAll) {
  std::optional<test::FewThreads> few;
  if (world().rank() == world().size() - 1) few.emplace(1);
  const Json records = run({{"file_mode", per_process}, {"threads", 3}});
  EXPECT_EQ(status_, PhaseStatus::failed);
  ASSERT_EQ(records[0]["failures"].size(), 1U) << records.dump(1);
  EXPECT_EQ(records[0]["failures"][0]["rank"], world().size() - 1);
  EXPECT_EQ(records[0]["failures"][0]["errno"], EAGAIN);
  expect_no_data_left();
}

TEST_F(MpiTransfer, OwnDataIsReadUnlessAskedOtherwise) {
  const auto records = run({{"file_mode", per_process}, {"verify", std::string("none")}});
  EXPECT_EQ(backend_->read_names, std::vector<std::string>{file_of(world().rank())});
  EXPECT_EQ(records[0]["data_of"], "") << "nothing is read while writing";
  EXPECT_EQ(records[1]["data_of"], "own");
}

TEST_F(MpiTransfer, OtherRanksDataIsThatOfTheRankSoManyFurther) {
  const int ranks = world().size();
  for (const int shift : {1, 2, ranks}) {
    backend_->read_names.clear();
    const auto records = run({{"file_mode", per_process},
                              {"verify", std::string("none")},
                              {"read_back", std::string("other-rank")},
                              {"read_shift", std::int64_t{shift}}});
    EXPECT_EQ(backend_->read_names, std::vector<std::string>{file_of((world().rank() + shift) % ranks)});
    EXPECT_EQ(records[1]["data_of"], shift % ranks == 0 ? "own" : "other-rank") << shift;
  }
}

TEST_F(MpiTransfer, OneNodeHasNoOtherSoAnotherRankIsRead) {
  const auto records =
      run({{"file_mode", per_process}, {"verify", std::string("none")}, {"read_back", std::string("other-node")}});
  EXPECT_EQ(backend_->read_names, std::vector<std::string>{file_of((world().rank() + 1) % world().size())});
  EXPECT_EQ(records[1]["data_of"], world().size() == 1 ? "own" : "other-rank");
}

TEST_F(MpiTransfer, OtherNodesDataIsThatOfTheSamePlaceOnThatNode) {
  if (world().size() < 2) GTEST_SKIP() << "needs two ranks to have two nodes";
  const mpi::World scattered("host" + std::to_string(world().rank()));
  const auto records =
      run({{"file_mode", per_process}, {"verify", std::string("full")}, {"read_back", std::string("other-node")}},
          scattered);
  EXPECT_EQ(status_, PhaseStatus::ok);
  ASSERT_FALSE(backend_->read_names.empty());
  EXPECT_EQ(backend_->read_names[0], file_of((world().rank() + 1) % world().size()));
  EXPECT_EQ(records[1]["data_of"], "other-node");
}

TEST_F(MpiTransfer, FailureOfOneRankLeavesNothingOfAnybody) {
  const Values on_last{{"operation", std::string("write")},
                       {"kind", std::string("eio")},
                       {"rank", std::int64_t{world().size() - 1}},
                       {"after", 1}};
  for (const Values& mode : {Values{{"file_mode", shared}}, Values{{"file_mode", per_process}},
                             Values{{"file_mode", per_process}, {"directory_per_process", true}}}) {
    use("fault", on_last);
    (void)run(mode);
    EXPECT_EQ(status_, PhaseStatus::failed);
    EXPECT_TRUE(ended_.has_value()) << test::line_of(ended_);
    expect_no_data_left();
  }
}

TEST_F(MpiTransfer, FileThatCouldNotBeMadeIsNoTroubleForTheRemoval) {
  use("fault", {{"operation", std::string("open")},
                {"kind", std::string("enospc")},
                {"rank", std::int64_t{world().size() - 1}}});
  (void)run({{"file_mode", per_process}});
  EXPECT_EQ(status_, PhaseStatus::failed);
  EXPECT_TRUE(ended_.has_value()) << test::line_of(ended_);
  expect_no_data_left();
}

TEST_F(MpiTransfer, BackendWithoutDataMakesAndListsNothing) {
  use("null");
  (void)run({{"verify", std::string("none")}});
  EXPECT_EQ(status_, PhaseStatus::ok);
  EXPECT_TRUE(ended_.has_value());
  expect_no_data_left();
  EXPECT_EQ(test::read_file(bench_.path("manifest.ndjson")), "");
}

}  // namespace ullage::transfer_test
