// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::mmap_test {

namespace fs = std::filesystem;
using namespace test;

class MmapBackend : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static bool has_base() { return access(GetParam().c_str(), W_OK) == 0; }
};

TEST_P(MmapBackend, WhatIsWrittenComesBackInAnyOrder) {
  if (!has_base()) GTEST_SKIP() << GetParam() << " is not writable here";
  Bench bench(GetParam());
  for (const std::int64_t threads : {1, 3}) {
    const auto backend = bench.make("mmap");
    ASSERT_TRUE(backend->make_ready({}, {.threads = static_cast<int>(threads)}));
    // No multiple of a page, so neighbours share one.
    Transfers transfers(50, 10'008, static_cast<unsigned>(threads));
    const std::string name = "f" + std::to_string(threads);
    write_out(*backend, name, transfers);
    EXPECT_EQ(fs::file_size(bench.path(name)), 500'400U);
    EXPECT_EQ(wrong_bytes_read_back(*backend, name, transfers), 0U);
    EXPECT_TRUE(backend->remove_file(name));
  }
}

TEST_P(MmapBackend, TakesEachAdvice) {
  if (!has_base()) GTEST_SKIP() << GetParam() << " is not writable here";
  Bench bench(GetParam());
  int number = 0;
  for (const Values& values :
       {Values{{"advice", "sequential"}}, Values{{"advice", "random"}}, Values{{"advice", "hugepage"}},
        Values{{"populate", true}}, Values{{"preallocate", true}}, Values{{"map_sync", "off"}}}) {
    const auto backend = bench.make("mmap", values);
    const std::string name = "f" + std::to_string(number++);
    Transfers transfers(3, 100'000, 5);
    write_out(*backend, name, transfers);
    EXPECT_EQ(wrong_bytes_read_back(*backend, name, transfers), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(On, MmapBackend, testing::Values(fs::temp_directory_path().string(), "/dev/shm"),
                         [](const auto& base) { return base.param == "/dev/shm" ? "Memory" : "Temporary"; });

TEST(MmapFile, SaysHowItIsMapped) {
  Bench bench;
  const auto backend = bench.make("mmap", {{"map_sync", "off"}});
  const Transfers transfers(1, 4096, 1);
  const auto file = opened(*backend, {.name = "f", .expected_bytes = 4096});
  EXPECT_EQ(file->hints_granted(), (Map{{"map", "MAP_SHARED"}}));
}

TEST(MmapFile, MapSyncIsRefusedWhereThereIsNoPersistentMemory) {
  Bench bench("/dev/shm");
  const auto backend = bench.make("mmap", {{"map_sync", "needed"}});
  const auto file = backend->open({.name = "f", .expected_bytes = 4096});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().errno_value, EOPNOTSUPP) << line_of(file);
  EXPECT_NE(line_of(file).find("map with MAP_SYNC"), std::string::npos) << line_of(file);
}

/// As after a stonewall: the rest was expected and never came.
TEST(MmapFile, IsAsLongAsWhatWasWritten) {
  Bench bench;
  const auto backend = bench.make("mmap");
  const Transfers transfers(3, 10'000, 1);
  const auto file = opened(*backend, {.name = "f", .expected_bytes = 1 << 20});
  EXPECT_EQ(fs::file_size(bench.path("f")), 1U << 20);
  RunningMeter meter;
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents().first(2), *meter));
  ASSERT_TRUE(file->close());
  EXPECT_TRUE(file->close());
  EXPECT_EQ(fs::file_size(bench.path("f")), 20'000U);
}

/// A page behind the new end is no page any more: without a handler the process would be gone.
TEST(MmapFile, TruncationByAnotherIsAnErrorWithItsOffset) {
  Bench bench;
  const auto backend = bench.make("mmap");
  for (const int threads : {1, 2}) {
    ASSERT_TRUE(backend->make_ready({}, {.threads = threads}));
    const std::string name = "f" + std::to_string(threads);
    Transfers transfers(4, 8192, 1);
    write_out(*backend, name, transfers);
    const auto file = opened(*backend, {.name = name, .mode = OpenMode::read});
    fs::resize_file(bench.path(name), 8192);
    RunningMeter meter;
    const auto read = file->transfer(Direction::read, transfers.extents(), *meter);
    ASSERT_FALSE(read);
    EXPECT_NE(line_of(read).find("SIGBUS at a mapped page: the file was truncated"), std::string::npos)
        << line_of(read);
    EXPECT_GE(read.error().offset_bytes, 8192U);
    EXPECT_EQ(meter->operations(), 1U);
    EXPECT_TRUE(file->close());
  }
}

TEST(MmapFile, FullFileSystemIsAnErrorWithPathAndOffset) {
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  for (const bool preallocate : {false, true}) {
    const auto backend = bench.make("mmap", {{"preallocate", preallocate}});
    const Transfers transfers(4, 400'000, 1);
    auto file = backend->open({.name = preallocate ? "p" : "f", .expected_bytes = 1'600'000});
    if (preallocate) {
      ASSERT_FALSE(file);
      EXPECT_EQ(file.error().errno_value, ENOSPC) << line_of(file);
      continue;
    }
    ASSERT_TRUE(file) << line_of(file);
    RunningMeter meter;
    const auto written = (*file)->transfer(Direction::write, transfers.extents(), *meter);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().errno_value, ENOSPC) << line_of(written);
    EXPECT_EQ(written.error().offset_bytes, 800'000U);
    EXPECT_EQ(meter->operations(), 2U);
    EXPECT_TRUE((*file)->close());
    EXPECT_EQ(fs::file_size(bench.path("f")), 800'000U);
  }
}

TEST(MmapFile, HasOneHandlerAfterTheOther) {
  Bench bench;
  for (int turn = 0; turn < 2; ++turn) {
    const auto first = bench.make("mmap");
    auto second = bench.make("mmap");
    second.reset();
    Transfers transfers(2, 8192, 1);
    const std::string name = "f" + std::to_string(turn);
    write_out(*first, name, transfers);
    const auto file = opened(*first, {.name = name, .mode = OpenMode::read});
    fs::resize_file(bench.path(name), 0);
    RunningMeter meter;
    EXPECT_FALSE(file->transfer(Direction::read, transfers.extents(), *meter));
  }
}

TEST(MpiMmapFile, WritesOnlyWithinItsExpectedSize) {
  Bench bench;
  const auto backend = bench.make("mmap");
  const auto bytes = static_cast<std::uint64_t>(bench.world().size()) * 15'000;
  EXPECT_TRUE(opened(*backend, {.name = "s", .shared = true, .expected_bytes = bytes})->close());
  bench.world().all().barrier();
  Transfers beyond(1, 5000, 1, bytes);
  const auto over = opened(*backend, {.name = "s", .mode = OpenMode::overwrite, .shared = true});
  RunningMeter meter;
  const auto refused = over->transfer(Direction::write, beyond.extents(), *meter);
  ASSERT_FALSE(refused);
  EXPECT_NE(line_of(refused).find("beyond its expected size"), std::string::npos) << line_of(refused);
}

}  // namespace ullage::mmap_test
