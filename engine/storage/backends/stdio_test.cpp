// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/backend.hpp"
#include "storage/test_support.hpp"

namespace ullage::stdio_test {
namespace {

namespace fs = std::filesystem;
using test::Bench;
using test::line_of;
using test::opened;
using test::RunningMeter;
using test::Transfers;
using test::write_out;
using test::wrong_bytes_read_back;

/// Buffers from the library's own to one that holds everything.
const std::vector<Values>& buffers() {
  static const std::vector<Values> buffers{
      {}, {{"buffer_bytes", std::int64_t{1000}}}, {{"buffer_bytes", std::int64_t{1 << 20}}}};
  return buffers;
}

TEST(StdioFile, WhatIsWrittenComesBackInAnyOrder) {
  Bench bench;
  int number = 0;
  for (const Values& buffer : buffers()) {
    const auto backend = bench.make("stdio", buffer);
    const std::string name = "f" + std::to_string(number++);
    Transfers transfers(5, 10'008, 3);
    write_out(*backend, name, transfers);
    EXPECT_EQ(fs::file_size(bench.path(name)), 50'040U);
    EXPECT_EQ(wrong_bytes_read_back(*backend, name, transfers), 0U);
    transfers.poison();
    const auto file = opened(*backend, {name, OpenMode::read, false, 0});
    RunningMeter meter;
    for (const std::size_t at : {3, 4, 0, 2, 1})
      ASSERT_TRUE(file->transfer(Direction::read, transfers.extents().subspan(at, 1), *meter));
    EXPECT_EQ(transfers.wrong_bytes(), 0U);
    EXPECT_EQ(meter->operations(), 5U);
    EXPECT_TRUE(file->close());
  }
}

TEST(StdioFile, OverwritingInAnotherOrderKeepsTheRest) {
  Bench bench;
  const auto backend = bench.make("stdio", {{"buffer_bytes", std::int64_t{64 << 10}}});
  Transfers transfers(4, 4096, 1);
  write_out(*backend, "f", transfers);
  Transfers over(1, 4096, 9, 8192);
  write_out(*backend, "f", over, OpenMode::overwrite);
  EXPECT_EQ(fs::file_size(bench.path("f")), 16384U);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", over), 0U);
}

TEST(StdioFile, SmallWritesWaitInTheBufferUntilSync) {
  Bench bench;
  const auto backend = bench.make("stdio", {{"buffer_bytes", std::int64_t{64 << 10}}});
  ASSERT_TRUE(backend->make_ready({}, {}));
  const Transfers transfers(2, 512, 1);
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  RunningMeter meter;
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
  EXPECT_EQ(fs::file_size(bench.path("f")), 0U);
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(fs::file_size(bench.path("f")), 1024U);
  EXPECT_TRUE(file->close());
  EXPECT_TRUE(file->close()) << "closed already";
}

TEST(StdioFile, CloseWritesWhatTheBufferHolds) {
  Bench bench;
  const auto backend = bench.make("stdio", {{"buffer_bytes", std::int64_t{64 << 10}}});
  Transfers transfers(2, 512, 1);
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  RunningMeter meter;
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
  ASSERT_TRUE(file->close());
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
}

TEST(StdioFile, EndOfFileInsideATransferNamesTheOffset) {
  Bench bench;
  const auto backend = bench.make("stdio");
  test::write_file(bench.path("f"), std::string(5000, 'x'));
  const Transfers transfers(2, 4096, 1);
  const auto file = opened(*backend, {"f", OpenMode::read, false, 0});
  RunningMeter meter;
  const auto read = file->transfer(Direction::read, transfers.extents(), *meter);
  ASSERT_FALSE(read);
  EXPECT_EQ(line_of(read), "read " + bench.path("f") + " at offset 5000: end of file inside a transfer (errno 5)");
  EXPECT_EQ(meter->operations(), 1U);
}

TEST(StdioFile, FullFileSystemIsFoundAtSyncOrCloseAtTheLatest) {
  const test::SmallFileSystem small("size=64k");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("stdio", {{"buffer_bytes", std::int64_t{1 << 20}}});
  const Transfers transfers(100, 4000, 1);
  for (const bool syncs : {true, false}) {
    const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
    RunningMeter meter;
    Status status = file->transfer(Direction::write, transfers.extents(), *meter);
    if (status && syncs) status = file->sync();
    if (const Status closed = file->close(); status) status = closed;
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().errno_value, ENOSPC);
    EXPECT_EQ(status.error().where, bench.path("f"));
    ASSERT_TRUE(backend->remove_file("f"));
  }
}

TEST(StdioFile, BeginsNoneAfterTheMeterSaidStop) {
  Bench bench;
  const auto backend = bench.make("stdio");
  const Transfers transfers(3, 4096, 1);
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  const std::atomic<bool> stop = true;
  Meter meter(stop);
  meter.start(now_ns());
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), meter));
  EXPECT_EQ(meter.operations(), 1U);
  EXPECT_TRUE(file->close());
  EXPECT_EQ(fs::file_size(bench.path("f")), 4096U);
}

TEST(StdioBackend, NeedsAPathAndStatesItsBuffer) {
  const mpi::World world;
  const auto* entry = Registry<BackendEntry>::instance().find("stdio");
  const auto made = entry->make(*complete(entry->description.parameters, {}, ""), {&world, nullptr, 1});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::environment);
  Bench bench;
  EXPECT_TRUE(bench.make("stdio")->hints_given().empty());
  EXPECT_EQ(bench.make("stdio", {{"buffer_bytes", std::int64_t{4096}}})->hints_given(), (Map{{"setvbuf", "4096"}}));
}

}  // namespace
}  // namespace ullage::stdio_test
