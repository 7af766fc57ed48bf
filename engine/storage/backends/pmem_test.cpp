// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include "storage/backend.hpp"
#include "storage/pmem_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::pmem_test {
namespace {

namespace fs = std::filesystem;
using test::Bench;
using test::line_of;
using test::opened;
using test::RunningMeter;
using test::Transfers;
using test::write_out;
using test::wrong_bytes_read_back;

TEST(PmemBackend, IsThereExactlyWhereTheLibraryIs) {
  const auto* entry = Registry<BackendEntry>::instance().find("pmem");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->description.unavailable().has_value(), !pmem_library().has_value());
  Bench bench;
  EXPECT_EQ(bench.try_make("pmem").has_value(), pmem_library().has_value());
}

class PmemBackend : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!pmem_library()) GTEST_SKIP() << line_of(pmem_library());
  }
};

/// No multiple of a page, and transfers on both sides of streaming_bytes.
TEST_P(PmemBackend, WhatIsWrittenComesBack) {
  for (const std::string& base : {fs::temp_directory_path().string(), std::string("/dev/shm")}) {
    Bench bench(base);
    for (const std::size_t length : {std::size_t{8}, std::size_t{248}, std::size_t{10'008}}) {
      for (const int threads : {1, 3}) {
        const auto backend = bench.make("pmem", {{"store", GetParam()}, {"preallocate", threads == 1}});
        ASSERT_TRUE(backend->make_ready({}, {.threads = threads}));
        Transfers transfers(50, length, static_cast<unsigned>(threads));
        write_out(*backend, "f", transfers);
        EXPECT_EQ(fs::file_size(bench.path("f")), 50 * length);
        EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
        EXPECT_TRUE(backend->remove_file("f"));
      }
    }
  }
}

TEST_P(PmemBackend, OverwritingKeepsTheRest) {
  Bench bench;
  const auto backend = bench.make("pmem", {{"store", GetParam()}});
  Transfers transfers(4, 4096, 1);
  write_out(*backend, "f", transfers);
  Transfers over(1, 4096, 9, 8192);
  write_out(*backend, "f", over, OpenMode::overwrite);
  EXPECT_EQ(fs::file_size(bench.path("f")), 16'384U);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", over), 0U);
}

TEST_P(PmemBackend, FullFileSystemIsAnErrorWithPathAndOffset) {
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("pmem", {{"store", GetParam()}});
  const Transfers transfers(4, 400'000, 1);
  const auto file = opened(*backend, {.name = "f", .expected_bytes = 1'600'000});
  RunningMeter meter;
  const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value, ENOSPC) << line_of(written);
  EXPECT_EQ(written.error().offset_bytes, 800'000U);
  EXPECT_NE(line_of(written).find(bench.path("f")), std::string::npos) << line_of(written);
  EXPECT_EQ(meter->operations(), 2U);
  EXPECT_TRUE(file->close());
}

TEST_P(PmemBackend, TruncationByAnotherIsAnErrorWithItsOffset) {
  Bench bench;
  const auto backend = bench.make("pmem", {{"store", GetParam()}});
  Transfers transfers(4, 8192, 1);
  write_out(*backend, "f", transfers);
  for (const auto direction : {Direction::read, Direction::write}) {
    fs::resize_file(bench.path("f"), 32'768);
    const bool reads = direction == Direction::read;
    const auto file = opened(*backend, {.name = "f", .mode = reads ? OpenMode::read : OpenMode::overwrite});
    fs::resize_file(bench.path("f"), 8192);
    RunningMeter meter;
    const auto moved = file->transfer(direction, transfers.extents(), *meter);
    ASSERT_FALSE(moved);
    EXPECT_NE(line_of(moved).find("SIGBUS at a mapped page: the file was truncated"), std::string::npos)
        << line_of(moved);
    EXPECT_EQ(meter->operations(), 1U);
    EXPECT_TRUE(file->close());
  }
}

INSTANTIATE_TEST_SUITE_P(Store, PmemBackend, testing::Values("persist", "nodrain", "nontemporal", "streaming"),
                         [](const auto& store) { return store.param; });

TEST(PmemFile, SaysThatThisMemoryIsNotPersistent) {
  if (!pmem_library()) GTEST_SKIP() << line_of(pmem_library());
  Bench bench("/dev/shm");
  const auto backend = bench.make("pmem");
  for (const OpenMode mode : {OpenMode::create, OpenMode::read}) {
    const Transfers transfers(1, 4096, 1);
    const auto file = opened(*backend, {.name = "f", .mode = mode, .expected_bytes = 4096});
    const Map hints = file->hints_granted();
    EXPECT_EQ(hints.at("map"), "MAP_SHARED");
    EXPECT_NE(hints.at("persistent"), "yes");
    RunningMeter meter;
    if (mode == OpenMode::create) {
      EXPECT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
    }
    EXPECT_TRUE(file->close());
  }
}

TEST(MpiPmemFile, RanksShareOne) {
  if (!pmem_library()) GTEST_SKIP() << line_of(pmem_library());
  Bench bench;
  const mpi::Topology& topology = bench.world().topology();
  const auto ranks = static_cast<std::uint64_t>(topology.ranks);
  const auto rank = static_cast<std::uint64_t>(topology.rank);
  const auto backend = bench.make("pmem", {{"store", "nodrain"}});
  Transfers own(3, 5000, 7 + static_cast<unsigned>(rank), rank * 15'000);
  {
    const auto file = opened(*backend, {.name = "s", .shared = true, .expected_bytes = ranks * 15'000});
    RunningMeter meter;
    EXPECT_TRUE(file->transfer(Direction::write, own.extents(), *meter));
    EXPECT_TRUE(file->sync());
    EXPECT_TRUE(file->close());
  }
  bench.world().all().barrier();
  EXPECT_EQ(fs::file_size(bench.path("s")), ranks * 15'000);
  own.poison();
  const auto file = opened(*backend, {.name = "s", .mode = OpenMode::read, .shared = true});
  RunningMeter meter;
  EXPECT_TRUE(file->transfer(Direction::read, own.extents(), *meter));
  EXPECT_EQ(own.wrong_bytes(), 0U);
}

}  // namespace
}  // namespace ullage::pmem_test
