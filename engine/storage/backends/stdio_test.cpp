// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::stdio_test {

namespace fs = std::filesystem;
using namespace test;

TEST(StdioFile, SmallWritesWaitInTheBufferUntilSync) {
  Bench bench;
  const auto backend = bench.make("stdio", {{"buffer_bytes", 64 << 10}});
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
  const auto backend = bench.make("stdio", {{"buffer_bytes", 64 << 10}});
  Transfers transfers(2, 512, 1);
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  RunningMeter meter;
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
  ASSERT_TRUE(file->close());
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
}

TEST(StdioFile, FullFileSystemIsFoundAtSyncOrCloseAtTheLatest) {
  const test::SmallFileSystem small("size=64k");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("stdio", {{"buffer_bytes", 1 << 20}});
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

TEST(StdioBackend, NeedsAPathAndStatesItsBuffer) {
  const mpi::World world;
  const auto* entry = Registry<BackendEntry>::instance().find("stdio");
  const auto made = entry->make(*complete(entry->description.parameters, {}, ""), {&world, nullptr, 1});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::environment);
  Bench bench;
  EXPECT_TRUE(bench.make("stdio")->hints_given().empty());
  EXPECT_EQ(bench.make("stdio", {{"buffer_bytes", 4096}})->hints_given(), (Map{{"setvbuf", "4096"}}));
}

}  // namespace ullage::stdio_test
