// SPDX-License-Identifier: Apache-2.0
// What every backend has to do that keeps its data in files of the kernel, one way of moving data after the other.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "storage/io_ring.hpp"
#include "storage/pmem_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::conformance_test {

namespace fs = std::filesystem;
using namespace test;

struct Way {
  std::string title;
  std::string backend;
  Values parameters = {};
  int queue_depth = 1;
};

class FilesOf : public testing::TestWithParam<Way> {
 protected:
  void SetUp() override {
    if (const auto missing = IoRing::missing(); missing && way().backend == "uring") GTEST_SKIP() << *missing;
    if (way().backend == "pmem" && !pmem_library()) GTEST_SKIP() << line_of(pmem_library());
  }
  [[nodiscard]] static const Way& way() { return GetParam(); }
  [[nodiscard]] static std::unique_ptr<Backend> made(Bench& bench, std::span<std::byte> memory) {
    auto backend = bench.make(way().backend, way().parameters);
    const Status ready = backend->make_ready(memory, {.queue_depth = way().queue_depth});
    EXPECT_TRUE(ready) << line_of(ready);
    return backend;
  }
  /// Whether what is written is in the file at once, in whole transfers, the one after the other.
  [[nodiscard]] static bool writes_at_once() { return way().backend != "stdio" && way().queue_depth == 1; }

  Bench bench_;
};

TEST_P(FilesOf, WhatIsWrittenComesBackInAnyOrder) {
  Transfers transfers(5, 10'008, 3);
  const auto backend = made(bench_, transfers.memory());
  write_out(*backend, "f", transfers);
  EXPECT_EQ(fs::file_size(bench_.path("f")), 50'040U);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
  EXPECT_EQ(wrong_bytes_read_back(*bench_.make("posix"), "f", transfers), 0U);
  transfers.poison();
  const auto file = opened(*backend, {"f", OpenMode::read, false, 0});
  RunningMeter meter;
  for (const std::size_t at : {3, 4, 0, 2, 1})
    ASSERT_TRUE(file->transfer(Direction::read, transfers.extents().subspan(at, 1), *meter));
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
  EXPECT_EQ(meter->operations(), 5U);
  EXPECT_TRUE(file->close());
}

TEST_P(FilesOf, OverwritingKeepsTheRest) {
  Transfers transfers(4, 4096, 1);
  const auto backend = made(bench_, transfers.memory());
  write_out(*backend, "f", transfers);
  Transfers over(1, 4096, 9, 8192);
  write_out(*backend, "f", over, OpenMode::overwrite);
  EXPECT_EQ(fs::file_size(bench_.path("f")), 16'384U);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", over), 0U);
  Transfers first(2, 4096, 1);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", first), 0U);
}

TEST_P(FilesOf, EndOfFileInsideATransferNamesTheOffset) {
  if (way().queue_depth > 1) GTEST_SKIP() << "how many have ended by then is not determined";
  write_file(bench_.path("f"), std::string(5000, 'x'));
  Transfers transfers(2, 4096, 1);
  const auto backend = made(bench_, transfers.memory());
  const auto file = opened(*backend, {"f", OpenMode::read, false, 0});
  RunningMeter meter;
  const auto read = file->transfer(Direction::read, transfers.extents(), *meter);
  ASSERT_FALSE(read);
  EXPECT_EQ(line_of(read), "read " + bench_.path("f") + " at offset 5000: end of file inside a transfer (errno 5)");
  const bool is_mapped = way().backend == "mmap" || way().backend == "pmem";
  EXPECT_EQ(meter->operations(), is_mapped ? 0U : 1U) << "a mapping is looked at before anything is moved";
}

TEST_P(FilesOf, FullFileSystemIsAnErrorWithPathAndOffset) {
  if (!writes_at_once()) GTEST_SKIP() << "which transfer fails is not determined";
  const SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  Transfers transfers(4, 400'000, 1);
  const auto backend = made(bench, transfers.memory());
  const auto file = opened(*backend, {.name = "f", .expected_bytes = 1'600'000});
  RunningMeter meter;
  const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value, ENOSPC) << line_of(written);
  EXPECT_EQ(written.error().where, bench.path("f"));
  EXPECT_GE(written.error().offset_bytes, 800'000U);
  EXPECT_EQ(meter->operations(), 2U);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(backend->remove_file("f"));
}

/// A limit on the size of files cuts one write short and refuses the next: both must be seen.
TEST_P(FilesOf, ShortWriteIsContinuedAndTheErrorBehindItFound) {
  if (way().backend != "posix" && way().backend != "uring") GTEST_SKIP() << "a buffer or a mapping is written";
  Transfers transfers(1, 10'000, 1);
  const auto backend = made(bench_, transfers.memory());
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{6000, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  RunningMeter meter;
  const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value, EFBIG);
  if (way().backend == "posix") {
    EXPECT_EQ(written.error().offset_bytes, 6000U);
  }
  EXPECT_EQ(fs::file_size(bench_.path("f")), 6000U);
  EXPECT_EQ(meter->operations(), 0U);
}

TEST_P(FilesOf, BeginNoneAfterTheMeterSaidStop) {
  Transfers transfers(30, 4096, 1);
  const auto backend = made(bench_, transfers.memory());
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  const std::atomic<bool> stop = true;
  Meter meter(stop);
  meter.start(now_ns());
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), meter));
  EXPECT_GE(meter.operations(), 1U);
  EXPECT_LE(meter.operations(), static_cast<std::uint64_t>(way().queue_depth)) << "those that were under way";
  EXPECT_TRUE(file->close());
  EXPECT_EQ(fs::file_size(bench_.path("f")), meter.operations() * 4096) << "those that were begun, and in order";
}

using MpiFilesOf = FilesOf;

TEST_P(MpiFilesOf, RanksWriteAndReadTheirPartsOfOne) {
  const auto ranks = static_cast<std::uint64_t>(bench_.world().size());
  const auto rank = static_cast<std::uint64_t>(bench_.world().rank());
  Transfers own(3, 5000, 7 + static_cast<unsigned>(rank), rank * 15'000);
  const auto backend = made(bench_, own.memory());
  for (const OpenMode mode : {OpenMode::create, OpenMode::read}) {
    const bool reads = mode == OpenMode::read;
    if (reads) own.poison();
    const auto file = opened(*backend, {.name = "s", .mode = mode, .shared = true, .expected_bytes = ranks * 15'000});
    ASSERT_NE(file, nullptr);
    RunningMeter meter;
    const Status moved = file->transfer(reads ? Direction::read : Direction::write, own.extents(), *meter);
    EXPECT_TRUE(moved) << line_of(moved);
    if (!reads) {
      EXPECT_TRUE(file->sync());
    }
    EXPECT_TRUE(file->close());
    bench_.world().all().barrier();
  }
  EXPECT_EQ(own.wrong_bytes(), 0U);
  EXPECT_EQ(backend->inspect("s")->size_bytes, ranks * 15'000);
}

const auto ways = testing::Values(
    Way{"posix", "posix"}, Way{"posix_at_its_place", "posix", {{"positioned", false}}},
    Way{"posix_in_16_pieces", "posix", {{"vector_pieces", 16}}},
    Way{"posix_in_1024_pieces", "posix", {{"vector_pieces", 1024}}}, Way{"stdio", "stdio"},
    Way{"stdio_small_buffer", "stdio", {{"buffer_bytes", 1000}}},
    Way{"stdio_large_buffer", "stdio", {{"buffer_bytes", 1 << 20}}}, Way{"mmap", "mmap"}, Way{"uring", "uring"},
    Way{"uring_4_deep", "uring", {}, 4}, Way{"pmem_persist", "pmem", {{"store", "persist"}}},
    Way{"pmem_nodrain", "pmem", {{"store", "nodrain"}}}, Way{"pmem_nontemporal", "pmem", {{"store", "nontemporal"}}},
    Way{"pmem_streaming", "pmem", {{"store", "streaming"}}});
const auto title_of = [](const auto& way) { return way.param.title; };
INSTANTIATE_TEST_SUITE_P(Ways, FilesOf, ways, title_of);
INSTANTIATE_TEST_SUITE_P(Ways, MpiFilesOf, ways, title_of);

}  // namespace ullage::conformance_test
