// SPDX-License-Identifier: Apache-2.0
// Whole repetitions of workload `overlap`: what every method moves and measures, and what is found when it goes wrong.
#include "storage/workloads/overlap/overlap.hpp"

#include <gtest/gtest.h>

#include "base/test_support.hpp"
#include "storage/workloads/overlap/test_support.hpp"

namespace ullage::overlap_workload_test {
namespace {

using overlap_test::number;
using overlap_test::words;

bool is_available(const std::string& backend) {
  return !Registry<BackendEntry>::instance().find(backend)->description.unavailable();
}

Values by(const char* method) { return {{"method", words(method)}}; }

class MpiOverlap : public overlap_test::OneRepetition {
 protected:
  double gauge(const Json& record, const char* name, const char* over = "sum") {
    return record["gauges"][name][over].get<double>();
  }

  void expect_whole(const Json& records, const Values& given, const std::string& what) {
    ASSERT_EQ(status_, PhaseStatus::ok) << what << test::line_of(begun_) << records.dump(1);
    ASSERT_EQ(records.size(), 2U) << what;
    const OverlapShape shape = overlap_test::parameters_of(given).shape();
    const auto all = static_cast<std::uint64_t>(ranks());
    for (const Json& record : records) {
      EXPECT_EQ(record["operations"], all * shape.stretches()) << what;
      EXPECT_EQ(record["bytes"], all * shape.file_bytes()) << what;
      EXPECT_DOUBLE_EQ(gauge(record, "bytes", "least"), static_cast<double>(shape.rounds * shape.area_bytes())) << what;
      for (const char* name : {"io_s", "compute_s", "both_s", "blocking_s", "beside_s"})
        EXPECT_GT(gauge(record, name, "least"), 0) << what << " " << name;
      EXPECT_NEAR(gauge(record, "start_s") + gauge(record, "beside_s") + gauge(record, "wait_s"),
                  gauge(record, "both_s"), 1e-6)
          << what << ": both has three parts";
    }
    EXPECT_EQ(records[1]["verified_bytes"], all * shape.file_bytes()) << what;
    EXPECT_EQ(records[1]["bad_blocks"], 0) << what;
  }
};

TEST_F(MpiOverlap, HelperThreadsMoveEveryByteOnce) {
  for (const auto& [backend, depth] :
       {std::pair("posix", 1), std::pair("posix", 5), std::pair("stdio", 1), std::pair("mmap", 1)}) {
    use(backend);
    Values given = by("threads");
    given["depth"] = number(depth);
    std::uintmax_t found = 0;
    const Json records = run(given, [&] { found = std::filesystem::file_size(file_of(world().rank())); });
    expect_whole(records, given, std::string(backend) + " depth " + std::to_string(depth));
    EXPECT_EQ(found, overlap_test::parameters_of(given).shape().file_bytes());
    expect_nothing_left();
  }
}

TEST_F(MpiOverlap, BegunTransfersMoveEveryByteOnceWithAndWithoutQuestions) {
  for (const char* backend : {"uring", "mpiio"}) {
    if (!is_available(backend)) continue;
    use(backend);
    for (const std::int64_t depth : {1, 5})
      for (const std::int64_t tests : {0, 3}) {
        Values given = by("nonblocking");
        given["depth"] = number(depth);
        given["tests"] = number(tests);
        expect_whole(run(given), given, std::string(backend) + " depth " + std::to_string(depth));
        expect_nothing_left();
      }
  }
}

TEST_F(MpiOverlap, DirectIoMovesWholeBlocks) {
  for (const auto& [backend, method] : {std::pair("posix", "threads"), std::pair("uring", "nonblocking")}) {
    if (!is_available(backend)) continue;
    use(backend, {{"direct", true}});
    Values given = by(method);
    given["transfer_bytes"] = number(8192);
    expect_whole(run(given), given, backend);
    given["transfer_bytes"] = number(8);
    (void)run(given);
    EXPECT_NE(test::line_of(begun_).find("direct I/O here needs a multiple"), std::string::npos)
        << test::line_of(begun_);
    expect_nothing_left();
  }
}

/// The length of the computation is that of the I/O before it, times what was asked for.
TEST_F(MpiOverlap, TheComputationIsAsLongAsWasAskedFor) {
  use("model", {{"bandwidth", 1e9}, {"latency_s", 0.002}});
  Values given = by("nonblocking");
  given.insert({{"verify", words("none")}, {"blocks", number(0)}, {"computation", 0.5}, {"depth", number(1)}});
  const Json records = run(given);
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump(1);
  EXPECT_GE(gauge(records[0], "io_s", "least"), 2 * 3 * 0.002);
  EXPECT_GT(gauge(records[0], "blocks", "least"), 1000);
}

/// A simulated device works by itself: what was begun goes on, and waiting for it takes what is left.
TEST_F(MpiOverlap, ASimulatedDeviceHidesTheShorterOfTheTwo) {
  use("model", {{"bandwidth", 1e12}, {"latency_s", 0.004}});
  Values given = by("nonblocking");
  given.insert({{"verify", words("none")}, {"blocks", number(1000)}, {"depth", number(2)}, {"read", false}});
  const Json records = run(given);
  ASSERT_EQ(status_, PhaseStatus::ok) << records.dump(1);
  const double batches = 2 * 3;
  for (const char* name : {"io_s", "both_s", "blocking_s"})
    EXPECT_GE(gauge(records[0], name, "least"), batches * 2 * 0.004) << name << ": two transfers one after the other";
}

TEST_F(MpiOverlap, AnErrorOfOneRankLeavesNobodyWaiting) {
  for (const char* inner : {"uring", "mpiio"}) {
    if (!is_available(inner)) continue;
    for (const auto& [kind, errno_value] : {std::pair("enospc", ENOSPC), std::pair("eio", EIO)}) {
      use("fault", {{"inner", words(inner)},
                    {"kind", words(kind)},
                    {"operation", words("write")},
                    {"after", number(13)},
                    {"rank", number(ranks() - 1)}});
      const Json records = run(by("nonblocking"));
      EXPECT_EQ(status_, PhaseStatus::failed);
      ASSERT_EQ(records.size(), 1U);
      EXPECT_EQ(records[0]["failures"][0]["errno"], errno_value) << inner << " " << records[0]["failures"].dump(1);
      expect_nothing_left();
    }
  }
}

TEST_F(MpiOverlap, AHelperOfOneRankThatDoesNotStartFailsTheCaseForAll) {
  Values given = by("threads");
  given["depth"] = number(3);
  {
    std::optional<test::FewThreads> few;
    if (world().rank() == world().size() - 1) few.emplace(2);
    const Json records = run(given);
    EXPECT_EQ(status_, PhaseStatus::failed);
    ASSERT_EQ(records.size(), 1U);
    ASSERT_EQ(records[0]["failures"].size(), 1U) << records[0].dump(1);
    EXPECT_EQ(records[0]["failures"][0]["rank"], world().size() - 1);
    EXPECT_EQ(records[0]["failures"][0]["path"], "threads");
    EXPECT_EQ(records[0]["failures"][0]["errno"], EAGAIN);
    expect_nothing_left();
  }
  expect_whole(run(given), given, "the next one");
}

TEST_F(MpiOverlap, AFullFileSystemEndsTheCase) {
  if (ranks() > 1) GTEST_SKIP() << "each rank would mount its own";
  const test::SmallFileSystem small("size=256k");
  if (!small.mounted()) GTEST_SKIP() << "no file system can be mounted here";
  for (const auto& [backend, method] :
       {std::pair("posix", "threads"), std::pair("uring", "nonblocking"), std::pair("mpiio", "nonblocking")}) {
    if (!is_available(backend)) continue;
    use_at(small.path(), backend);
    Values given = by(method);
    given["transfer_bytes"] = number(65536);
    const Json records = run(given);
    EXPECT_EQ(status_, PhaseStatus::failed) << backend;
    ASSERT_EQ(records.size(), 1U) << backend;
    EXPECT_EQ(records[0]["failures"].size(), 1U) << records[0].dump(1);
    expect_nothing_left();
  }
}

TEST_F(MpiOverlap, ADamagedByteIsFoundWhereverItIs) {
  for (const char* method : {"threads", "nonblocking"}) {
    const char* const backend = std::string(method) == "threads" ? "posix" : "mpiio";
    use(backend);
    const std::uint64_t at = 4096 * 7 + 123;
    const Json records = run(by(method), [&] {
      world().all().barrier();
      if (!world().root()) return;
      std::fstream file(file_of(world().size() - 1), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(at));
      const char damaged = static_cast<char>(~file.get());
      file.seekp(static_cast<std::streamoff>(at)).put(damaged);
    });
    EXPECT_EQ(status_, PhaseStatus::failed) << method;
    ASSERT_EQ(records.size(), 2U);
    EXPECT_EQ(records[1]["bad_blocks"], 1) << method;
    EXPECT_EQ(records[1]["failures"][0]["operation"], "verify") << records[1]["failures"].dump(1);
    expect_nothing_left();
  }
}

TEST_F(MpiOverlap, AFlippedBitIsFoundWhereverItHappened) {
  for (const char* operation : {"write", "read"}) {
    use("fault", {{"inner", words("mpiio")},
                  {"kind", words("flip")},
                  {"operation", words(operation)},
                  {"after", number(9)},
                  {"rank", number(0)},
                  {"flip_bit", number(4321)}});
    const Json records = run(by("nonblocking"));
    EXPECT_EQ(status_, PhaseStatus::failed) << operation;
    EXPECT_EQ(records[1]["bad_blocks"], 1) << operation;
    expect_nothing_left();
  }
}

TEST_F(MpiOverlap, ShortCountsAreContinued) {
  use("fault",
      {{"inner", words("mpiio")}, {"kind", words("short")}, {"operation", words("write")}, {"count", number(0)}});
  expect_whole(run(by("nonblocking")), by("nonblocking"), "short");
}

TEST_F(MpiOverlap, AWrappedBackendWithoutAWayIsRefusedBeforeAnythingIsMade) {
  use("fault", {{"inner", words("posix")}});
  const Json records = run(by("nonblocking"));
  EXPECT_EQ(records.size(), 0U);
  EXPECT_NE(test::line_of(begun_).find("no call that only begins a transfer"), std::string::npos)
      << test::line_of(begun_);
}

}  // namespace
}  // namespace ullage::overlap_workload_test

namespace ullage::overlap_parameters_test {
namespace {

using overlap_test::number;
using overlap_test::parameters_of;
using overlap_test::words;

constexpr Capabilities both_ways{.file_threads = 1024, .nonblocking = 1024};

void expect_refused(const Values& given, const Capabilities& capabilities, const std::string& where,
                    const std::string& what) {
  const Status status = check_overlap(parameters_of(given), capabilities, "/p");
  ASSERT_FALSE(status.has_value()) << what;
  EXPECT_EQ(status.error().where, where);
  EXPECT_NE(status.error().text.find(what), std::string::npos) << status.error().text;
}

TEST(OverlapParameters, WhatABackendCannotDoIsSaidWithItsReason) {
  EXPECT_TRUE(check_overlap(parameters_of({}), both_ways, "/p"));
  EXPECT_TRUE(check_overlap(parameters_of({{"method", words("nonblocking")}}), both_ways, "/p"));
  expect_refused({}, {.nonblocking = 8}, "/p/method", "must be nonblocking: only the rank's own thread");
  expect_refused({{"method", words("nonblocking")}}, {.file_threads = 8}, "/p/method",
                 "must be threads: this backend has no call that only begins a transfer");
  expect_refused({}, {.file_threads = 8, .thread_files = true, .nonblocking = 8}, "/p/method", "must be nonblocking");
  expect_refused({}, {}, "/p/method", "no other way to move data while its rank computes");
}

TEST(OverlapParameters, WhatMeansNothingIsRefusedWithItsPlace) {
  expect_refused({{"transfer_bytes", number(4097)}}, both_ways, "/p/transfer_bytes", "multiple of 8");
  expect_refused({{"depth", number(65)}}, both_ways, "/p/depth", "at most 64");
  expect_refused({{"method", words("nonblocking")}, {"depth", number(9)}}, {.nonblocking = 8}, "/p/depth", "at most 8");
  expect_refused({{"tests", number(1)}}, both_ways, "/p/tests", "must be 0");
  expect_refused({}, {.data = false, .file_threads = 1024}, "/p/verify", "holds no data");
  expect_refused({{"transfer_bytes", number(1 << 30)}, {"batches", number(9)}}, both_ways, "/p/batches", "16 GiB");
}

TEST(OverlapParameters, RoomIsThatOfTheFilesOfAllRanks) {
  PlannedLayout layout;
  layout.ranks = 3;
  const Needs needs = needs_of_overlap(parameters_of({}), layout);
  EXPECT_EQ(needs.bytes, 3U * (2 + 3 * 2) * 3 * 2 * 4096);
  EXPECT_EQ(needs.inodes, 3U);
}

}  // namespace
}  // namespace ullage::overlap_parameters_test

namespace ullage::overlap_shape_test {
namespace {

TEST(OverlapShape, CountsStretchesAreasAndBytes) {
  const OverlapShape shape{.transfer_bytes = 512, .depth = 2, .batches = 3, .rounds = 4};
  EXPECT_EQ(shape.stretches(), 18U);
  EXPECT_EQ(shape.areas(), 14U);
  EXPECT_EQ(shape.area_bytes(), 3072U);
  EXPECT_EQ(shape.file_bytes(), 14U * 3072U);
  EXPECT_EQ(shape.stretch(1), Stretch::warm_up);
  EXPECT_EQ(shape.stretch(2), Stretch::io);
  EXPECT_EQ(shape.stretch(3), Stretch::compute);
  EXPECT_EQ(shape.stretch(4), Stretch::blocking);
  EXPECT_EQ(shape.stretch(5), Stretch::both);
  EXPECT_EQ(shape.area(2), 2U);
  EXPECT_EQ(shape.area(4), 3U) << "a computation has no area";
}

TEST(OverlapShape, InFourRoundsEachStandsInEachPlaceAndBehindEachOtherOnce) {
  const OverlapShape shape{.rounds = 4};
  std::map<std::pair<std::uint64_t, Stretch>, int> places;
  std::map<std::pair<Stretch, Stretch>, int> neighbours;
  for (std::uint64_t round = 0; round < 4; ++round) {
    for (std::uint64_t place = 0; place < 4; ++place) {
      const std::uint64_t index = OverlapShape::warm_ups + 4 * round + place;
      ++places[{place, shape.stretch(index)}];
      if (place > 0) ++neighbours[{shape.stretch(index - 1), shape.stretch(index)}];
    }
  }
  EXPECT_EQ(places.size(), 16U);
  EXPECT_EQ(neighbours.size(), 12U);
}

}  // namespace
}  // namespace ullage::overlap_shape_test
