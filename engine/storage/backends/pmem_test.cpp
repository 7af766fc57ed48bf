// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/pmem_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::pmem_test {

namespace fs = std::filesystem;
using namespace test;

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

}  // namespace ullage::pmem_test
