// SPDX-License-Identifier: Apache-2.0
// The workload on real files: every pattern by every kind of calls, what is found when data is damaged, what is
// refused.
#include <gtest/gtest.h>

#include <random>

#include "storage/backends/hdf5_arrays.hpp"
#include "storage/workloads/pio/pio.hpp"
#include "storage/workloads/test_support.hpp"

namespace ullage::pio_test {
namespace {

const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("pio"); }
const std::vector<std::string> all_phases{"write", "read", "reread", "rewrite", "read-modify-write"};
const std::vector<std::string> shared_phases{"write", "read", "reread"};

struct How {
  const char* name;
  const char* backend;
  bool view;
  bool collective;  // of the view, or of the backend
};

Values values_of(const std::string& pattern, const How& how, Values given) {
  given.emplace("pattern", pattern);
  given.emplace("phases", pattern == "sequential-shared" ? shared_phases : all_phases);
  given.emplace("request_bytes", std::int64_t{4096 + 8});
  given.emplace("requests", 24);
  if (pattern == "mesh") given.emplace("record_bytes", 216);
  given.emplace("base_bytes", 8);
  given.emplace("verify", std::string("full"));
  given.emplace("through", std::string(how.view ? "view" : "offsets"));
  given.emplace("collective", how.view && how.collective);
  return given;
}

void nothing(std::size_t /*phase*/) {}

class PioBench : public test::StorageWorkloadTest {
 protected:
  PioBench() : StorageWorkloadTest("00000000000000a1") {}

  /// Runs the phases until one is not ok; their records on every rank. `before`: what all ranks do before each.
  Json run(const std::string& pattern, const How& how, Values given = {}, const test::BeforePhase& before = nothing,
           const Values& of_backend = {}) {
    Values backend_values = of_backend;
    if (std::string(how.backend) != "fault" && !how.view && how.collective) backend_values["collective"] = true;
    backend_ = bench_.make(how.backend, backend_values);
    const auto values = complete(entry().description.parameters, values_of(pattern, how, std::move(given)), "");
    EXPECT_TRUE(values.has_value()) << test::line_of(values);
    const PlannedLayout layout{.ranks = bench_.world().size(), .nodes = {}, .ranks_per_node = {}};
    const Status checked = entry().check(*values, backend_->capabilities(), layout, "");
    EXPECT_TRUE(checked) << test::line_of(checked);
    const auto workload = std::get<StorageWork>(entry().work).make(*values, context());
    Json records = run_phases(*workload, before);
    EXPECT_TRUE(begun_.has_value()) << test::line_of(begun_);
    return records;
  }

  [[nodiscard]] PioPattern pattern_of(const std::string& pattern, std::uint64_t rank, const Values& given = {}) const {
    const How offsets{"", "posix", false, false};
    const auto values = complete(entry().description.parameters, values_of(pattern, offsets, given), "");
    return {bind_parameters<PioParameters>(*values).shape(ranks()), rank};
  }
  /// Returns where the bytes that a pattern places begin in a file: HDF5 has its own before them.
  [[nodiscard]] static std::uint64_t begin_of_data(const How& how, const std::string& path) {
    if (std::string(how.backend) != "hdf5") return 0;
    const auto ranges = find_hdf5_data(*hdf5_library(), path, "data");
    EXPECT_TRUE(ranges.has_value()) << test::line_of(ranges);
    return ranges ? ranges->front().offset_bytes : 0;
  }
  [[nodiscard]] std::string file_of(const std::string& pattern, int rank) const {
    DatasetEntry dataset;
    dataset.directory = directory_of_dataset("00000000000000a1");
    dataset.per_process = pattern == "sequential-own";
    return bench_.path(dataset.file_name(dataset.per_process ? static_cast<std::uint64_t>(rank) : 0));
  }
};

const std::vector<std::string>& patterns() {
  static const std::vector<std::string> words{"simple-strided",
                                              "nested-strided",
                                              "random-strided",
                                              "sequential-shared",
                                              "sequential-own",
                                              "segmented",
                                              "tiled",
                                              "flash",
                                              "mesh"};
  return words;
}

class MpiPio : public PioBench, public testing::WithParamInterface<How> {
 protected:
  void SetUp() override {
    if (std::string(GetParam().backend) == "hdf5" && !hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  }
};

TEST_P(MpiPio, EveryPatternIsWrittenReadAndChanged) {
  for (const std::string& pattern : patterns()) {
    SCOPED_TRACE(pattern);
    if (GetParam().view && GetParam().collective && pattern == "sequential-own") continue;
    const auto records = run(pattern, GetParam());
    ASSERT_EQ(status_, PhaseStatus::ok) << records.back().dump();
    ASSERT_EQ(records.size(), pattern == "sequential-shared" ? 3U : 5U);
    const std::uint64_t data = pattern_of(pattern, 0).data_bytes();
    for (const Json& record : records) {
      EXPECT_EQ(record["bad_blocks"], 0U);
      const bool all_read = pattern == "sequential-shared" && record["access"] == "read";
      EXPECT_EQ(record["bytes"], all_read ? data * ranks() : data) << record["phase"];
      EXPECT_GE(record["verified_bytes"].get<std::uint64_t>(), data) << record["phase"];
      EXPECT_EQ(record["facts"]["data_bytes"], data);
    }
    EXPECT_EQ(records[0]["facts"]["picture"].size(), std::min<std::size_t>(ranks(), 4));
  }
}

/// A byte of each rank's part is changed before it is read: it is found on the rank that owns it.
TEST_P(MpiPio, DamageIsFoundInEveryPattern) {
  for (const std::string& pattern : patterns()) {
    SCOPED_TRACE(pattern);
    if (GetParam().view && GetParam().collective && pattern == "sequential-own") continue;
    const std::uint64_t owner = ranks() - 1;
    const auto damage = [&](std::size_t phase) {
      if (phase != 1 || !bench_.world().root()) return;
      const PioPattern owned = pattern_of(pattern, owner);
      const PioPiece piece = owned.piece(owned.pieces() / 2);
      const std::string path = file_of(pattern, static_cast<int>(owner));
      const std::uint64_t begin = begin_of_data(GetParam(), path);
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      const auto at = static_cast<std::streamoff>(begin + piece.offset_bytes + piece.length_bytes - 1);
      char byte = 0;
      file.seekg(at).get(byte);
      file.seekp(at).put(static_cast<char>(byte ^ 1));
      ASSERT_TRUE(file);
    };
    const auto records = run(pattern, GetParam(), {}, damage);
    EXPECT_EQ(status_, PhaseStatus::failed);
    ASSERT_EQ(records.size(), 2U) << "the phase that reads it";
    EXPECT_GT(records[1]["bad_blocks"].get<std::uint64_t>(), 0U);
    const std::string failures = records[1]["failures"].dump();
    EXPECT_NE(failures.find("data differs from what was written"), std::string::npos) << failures;
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, MpiPio,
                         testing::Values(How{"Posix", "posix", false, false}, How{"MpiioAlone", "mpiio", false, false},
                                         How{"MpiioTogether", "mpiio", false, true},
                                         How{"ViewAlone", "mpiio", true, false},
                                         How{"ViewTogether", "mpiio", true, true},
                                         How{"Hdf5Alone", "hdf5", false, false},
                                         How{"Hdf5Together", "hdf5", false, true}),
                         [](const auto& how) { return how.param.name; });

using MpiPioCases = PioBench;
const How offsets{"", "posix", false, false};
const How alone{"", "mpiio", true, false};
const How together{"", "mpiio", true, true};

TEST_F(MpiPioCases, SeveralRequestsAreOneCallThroughAView) {
  for (const How& how : {alone, together})
    for (const char* pattern : {"simple-strided", "nested-strided", "random-strided", "tiled", "flash", "mesh"}) {
      const auto records = run(pattern, how, {{"requests_a_call", 7}});
      ASSERT_EQ(status_, PhaseStatus::ok) << pattern << records.back().dump();
      const PioPattern own = pattern_of(pattern, 0);
      const std::uint64_t pieces = how.collective ? own.most_pieces() : own.pieces();
      const std::uint64_t a_call = 7 * own.shape().pieces_a_request();
      EXPECT_EQ(records[0]["facts"]["calls"], (pieces + a_call - 1) / a_call) << pattern;
    }
}

/// Data of the phase before is not taken for that of a rewrite, nor what was there for what a change has left.
TEST_F(MpiPioCases, StaleDataIsFound) {
  std::string kept;
  const std::string path = file_of("segmented", 0);
  const auto keep = [&](std::size_t phase) {
    if (!bench_.world().root()) return;
    if (phase == 2) kept = test::read_file(path);
  };
  for (const char* writes : {"rewrite", "read-modify-write"}) {
    const std::vector<std::string> phases{"write", "read", writes, "reread"};
    const auto restore = [&](std::size_t phase) {
      keep(phase);
      if (phase == 3 && bench_.world().root()) test::write_file(path, kept);
    };
    const auto records = run("segmented", offsets, {{"phases", phases}}, restore);
    EXPECT_EQ(status_, PhaseStatus::failed);
    EXPECT_EQ(records.size(), 4U) << writes;
  }
}

TEST_F(MpiPioCases, PlacesAreBeyondFourGibibytes) {
  for (const How& how : {offsets, alone, together})
    for (const std::int64_t base : {std::int64_t{3} << 30, (std::int64_t{5} << 30) + 8}) {
      const auto records = run("simple-strided", how, {{"base_bytes", base}});
      EXPECT_EQ(status_, PhaseStatus::ok) << records.back().dump();
    }
  if (hdf5_library())
    for (const bool collective : {false, true}) {
      const auto records =
          run("simple-strided", {"", "hdf5", false, collective}, {{"base_bytes", (std::int64_t{5} << 30) + 8}});
      EXPECT_EQ(status_, PhaseStatus::ok) << records.back().dump();
    }
  const Values far{{"gap_requests", 400000}, {"base_bytes", 0}};
  const auto records = run("nested-strided", offsets, far);
  EXPECT_EQ(status_, PhaseStatus::ok) << records.back().dump();
  EXPECT_GT(records[0]["facts"]["file_bytes"].get<std::uint64_t>(), std::uint64_t{4} << 30);
  run("nested-strided", alone, far);
  EXPECT_EQ(status_, PhaseStatus::ok);
}

/// Shapes, chunks and ways of transfer drawn by the same seed on all ranks.
TEST_F(MpiPioCases, AnyShapeComesBackFromHdf5) {
  if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  std::mt19937 draw(4711);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(draw() % static_cast<std::uint32_t>(n)); };
  for (int i = 0; i < 10; ++i) {
    const std::string pattern = patterns()[static_cast<std::size_t>(below(9))];
    const bool collective = pattern != "sequential-own" && below(2) == 1;
    Values given{{"request_bytes", (1 + below(60)) * 216}, {"requests", 24}, {"base_bytes", below(100) * 8}};
    if (pattern == "mesh") given["sorted"] = below(2) == 1;
    if (pattern == "nested-strided") given["gap_requests"] = below(5);
    Values own;
    if (below(2) == 1) own["chunk_bytes"] = 8192 + below(50'000);
    SCOPED_TRACE(pattern + (collective ? " together " : " alone ") + std::to_string(i));
    const auto records = run(pattern, {"", "hdf5", false, collective}, given, nothing, own);
    ASSERT_EQ(status_, PhaseStatus::ok) << records.back().dump();
    EXPECT_GE(records.back()["verified_bytes"].get<std::uint64_t>(), pattern_of(pattern, 0, given).data_bytes());
  }
}

/// Odd sizes, transfers that overlap on one rank and between ranks, holes, and ranks without any.
TEST_F(MpiPioCases, ListedTransfersAreMovedExactly) {
  const std::string last = std::to_string(ranks() - 1);
  const std::string list = "0:1000:7:3:50 " + last + ":1003:4097:2:-1000 0:0:5000:1:0";
  const Values given{{"list", list},
                     {"phases", shared_phases},
                     {"request_bytes", std::int64_t{64} << 10},
                     {"requests", 16},
                     {"base_bytes", 0}};
  for (const How& how : {offsets, How{"", "mpiio", false, false}})
    for (const char* pattern : {"listed", "listed-own"}) {
      SCOPED_TRACE(pattern + std::string(how.backend));
      const auto records = run(pattern, how, given);
      ASSERT_EQ(status_, PhaseStatus::ok) << records.back().dump();
      for (const Json& record : records) {
        EXPECT_EQ(record["bytes"], 3 * 7 + 2 * 4097 + 5000) << record["phase"];
        EXPECT_EQ(record["bad_blocks"], 0U);
        EXPECT_EQ(record["verified_bytes"].get<int>() >= 3 * 7 + 2 * 4097 + 5000, true);
      }
      EXPECT_FALSE(records[0]["facts"].contains("picture"));
      expect_nothing_left();
    }
  const auto records = run("listed", offsets, given);
  EXPECT_EQ(records[0]["operations"], 6);
  const auto workload = [&] {
    backend_ = bench_.make("mpiio", {{"collective", true}});
    const auto values = complete(entry().description.parameters, values_of("listed", offsets, given), "");
    return std::get<StorageWork>(entry().work).make(*values, context());
  }();
  run_phases(*workload);
  EXPECT_NE(test::line_of(begun_).find("collective must be false"), std::string::npos);
}

TEST_F(MpiPioCases, AnErrorInMidPhaseLeavesNobodyWaiting) {
  struct Inner {
    const char* backend;
    bool view;
    bool collective;  // of the backend
  };
  std::vector<Inner> inners{{"posix", false, false}, {"mpiio", false, false}, {"mpiio", true, false}};
  if (hdf5_library()) inners.insert(inners.end(), {{"hdf5", false, false}, {"hdf5", false, true}});
  const std::int64_t last = bench_.world().size() - 1;
  for (const Inner& inner : inners)
    for (const char* phase : {"write", "read-modify-write"}) {
      SCOPED_TRACE(std::string(inner.backend) + " " + phase);
      const How how{"", "fault", inner.view, inner.view};
      const std::int64_t after = std::string(phase) == "write" ? 5 : 29;
      Values fault{{"inner", std::string(inner.backend)},
                   {"kind", std::string("enospc")},
                   {"operation", std::string("write")},
                   {"after", after},
                   {"rank", last}};
      if (inner.collective) fault["inner_parameters"] = Map{{"collective", "true"}};
      const auto records =
          run("simple-strided", how,
              {{"phases", std::vector<std::string>{"write", "read-modify-write"}}, {"verify", std::string("none")}},
              nothing, fault);
      EXPECT_EQ(status_, PhaseStatus::failed);
      EXPECT_EQ(records.back()["phase"], phase);
      const Json& failures = records.back()["failures"];
      ASSERT_FALSE(failures.empty());
      EXPECT_EQ(failures[0]["errno"], ENOSPC) << failures.dump();
      EXPECT_EQ(failures[0]["rank"], last);
    }
}

}  // namespace
}  // namespace ullage::pio_test

namespace ullage::pio_parameters_test {
namespace {

const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("pio"); }

std::string refusal(const Values& given, int on_ranks = 4, const Capabilities& capabilities = {.views = true}) {
  const auto values = complete(entry().description.parameters, given, "/p");
  if (!values) return test::line_of(values);
  const PlannedLayout layout{.ranks = on_ranks, .nodes = {}, .ranks_per_node = {}};
  return test::line_of(entry().check(*values, capabilities, layout, "/p"));
}

TEST(PioCheck, NothingIsIgnored) {
  EXPECT_EQ(refusal({}), "no error");
  const Value word = std::string("view");
  const auto of = [](const char* pattern) { return Value(std::string(pattern)); };
  const std::vector<std::pair<Values, std::string>> cases{
      {{{"levels", 3}}, "/p/levels"},
      {{{"tiles_x", 2}}, "/p/tiles_x"},
      {{{"variables", 2}}, "/p/variables"},
      {{{"record_bytes", 8}}, "/p/record_bytes"},
      {{{"sorted", false}}, "/p/sorted"},
      {{{"request_bytes", 12}}, "/p/request_bytes"},
      {{{"base_bytes", 12}}, "/p/base_bytes"},
      {{{"pattern", of("mesh")}, {"request_bytes", 40}}, "/p/request_bytes"},
      {{{"pattern", of("flash")}, {"requests", 25}}, "/p/requests"},
      {{{"pattern", of("nested-strided")}, {"requests", 5}}, "/p/requests"},
      {{{"pattern", of("tiled")}, {"tiles_x", 3}}, "/p/tiles_x"},
      {{{"collective", true}}, "/p/collective"},
      {{{"requests_a_call", 2}}, "/p/requests_a_call"},
      {{{"through", word}, {"requests_a_call", 1 << 19}, {"request_bytes", 1 << 20}}, "/p/requests_a_call"},
      {{{"through", word}, {"pattern", of("sequential-own")}, {"collective", true}}, "/p/collective"},
      {{{"through", word}, {"pattern", of("mesh")}, {"sorted", false}}, "/p/sorted"},
      {{{"phases", std::vector<std::string>{"read"}}}, "/p/phases/0"},
      {{{"phases", std::vector<std::string>{"write", "write"}}}, "/p/phases/1"},
      {{{"phases", std::vector<std::string>{"write", "rewrite"}}, {"pattern", of("sequential-shared")}}, "/p/phases/1"},
      {{{"list", std::string("0:0:8:1:0")}}, "/p/list"},
      {{{"pattern", of("listed")}}, "/p/list"},
      {{{"pattern", of("listed")}, {"list", std::string("4:0:8:1:0")}}, "/p/list: names rank 4"},
      {{{"pattern", of("listed")}, {"list", std::string("0:0:8:1:0")}, {"requests", 2}}, "/p: request_bytes"},
      {{{"pattern", of("listed-own")}, {"list", std::string("3:0:8:1:0")}, {"through", word}}, "/p/through"},
      {{{"pattern", of("listed-own")}, {"list", std::string("3:0:8:1:0")}}, "no error"},
      {{{"request_bytes", 1 << 30}, {"requests", 900000000}, {"pattern", of("segmented")}, {"base_bytes", 0}},
       "no error"},
  };
  for (const auto& [given, where] : cases) EXPECT_NE(refusal(given).find(where), std::string::npos) << refusal(given);
  EXPECT_NE(refusal({{"request_bytes", 1 << 30}, {"requests", 1000000000}}, 100).find("4e18"), std::string::npos);
  EXPECT_NE(refusal({{"through", word}}, 4, {}).find("/p/through"), std::string::npos);
  EXPECT_NE(refusal({}, 4, {.data = false}).find("/p/verify"), std::string::npos);
}

TEST(PioNeeds, GapsAreCountedWhereALibraryMayFillThem) {
  const PlannedLayout layout{.ranks = 2, .nodes = {}, .ranks_per_node = {}};
  Values given{{"pattern", std::string("nested-strided")}, {"request_bytes", 8}, {"requests", 8}, {"base_bytes", 8000}};
  const auto needs = [&] { return entry().needs(*complete(entry().description.parameters, given, ""), layout); };
  EXPECT_EQ(needs().bytes, 2U * 8 * 8);
  given["through"] = std::string("view");
  EXPECT_EQ(needs().bytes, (9U + 8) * 8);
  EXPECT_EQ(needs().inodes, 1U);
}

}  // namespace
}  // namespace ullage::pio_parameters_test
