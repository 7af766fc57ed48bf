// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "storage/test_support.hpp"

namespace ullage::memory_backend_test {

using namespace test;

class MemoryBackend : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] std::unique_ptr<Backend> make(Values values = {}) {
    values.emplace("pages", GetParam());
    return bench_.make("memory", values);
  }
  static void write(Backend& backend, const std::string& name, const Transfers& transfers, std::uint64_t bytes) {
    const auto file = opened(backend, {.name = name, .expected_bytes = bytes});
    RunningMeter meter;
    const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
    EXPECT_TRUE(written) << line_of(written);
    EXPECT_EQ(meter->operations(), transfers.extents().size());
    EXPECT_TRUE(file->sync());
    EXPECT_TRUE(file->close());
  }
  Bench bench_;
};

TEST_P(MemoryBackend, WhatIsWrittenComesBack) {
  for (const int threads : {1, 3}) {
    const auto backend = make();
    ASSERT_TRUE(backend->make_ready({}, {.threads = threads}));
    Transfers transfers(50, 10'008, static_cast<unsigned>(threads));
    write(*backend, "d/f", transfers, 500'400);
    EXPECT_EQ(test::wrong_bytes_read_back(*backend, "d/f", transfers), 0U);
    const auto extents = backend->inspect("d/f");
    ASSERT_TRUE(extents) << line_of(extents);
    EXPECT_EQ(extents->size_bytes, 500'400U);
    EXPECT_TRUE(backend->drop_cached("d/f"));
    EXPECT_TRUE(backend->remove_file("d/f"));
    EXPECT_TRUE(backend->remove_file("d/f")) << "one that is not there is no error";
    EXPECT_FALSE(backend->inspect("d/f"));
  }
}

TEST_P(MemoryBackend, OverwritingKeepsTheRest) {
  const auto backend = make();
  Transfers transfers(4, 4096, 1);
  write(*backend, "f", transfers, 16'384);
  Transfers over(1, 4096, 9, 8192);
  const auto file = opened(*backend, {.name = "f", .mode = OpenMode::overwrite, .expected_bytes = 16'384});
  RunningMeter meter;
  EXPECT_TRUE(file->transfer(Direction::write, over.extents(), *meter));
  EXPECT_EQ(test::wrong_bytes_read_back(*backend, "f", over), 0U);
  Transfers first(2, 4096, 1);
  EXPECT_EQ(test::wrong_bytes_read_back(*backend, "f", first), 0U);
}

TEST_P(MemoryBackend, BeyondTheEndIsAnErrorWithItsOffset) {
  const auto backend = make();
  const Transfers transfers(2, 4096, 1);
  write(*backend, "f", Transfers(1, 4096, 1), 4096);
  RunningMeter meter;
  const auto read =
      opened(*backend, {.name = "f", .mode = OpenMode::read})->transfer(Direction::read, transfers.extents(), *meter);
  ASSERT_FALSE(read);
  EXPECT_EQ(line_of(read), "read memory:f at offset 4096: end of file inside a transfer (errno 5)");
  const auto written = opened(*backend, {.name = "f", .mode = OpenMode::overwrite})
                           ->transfer(Direction::write, transfers.extents(), *meter);
  ASSERT_FALSE(written);
  EXPECT_NE(line_of(written).find("does not grow"), std::string::npos) << line_of(written);
  const auto twice = backend->open({.name = "f", .expected_bytes = 4096});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().errno_value, EEXIST);
  const auto absent = backend->open({.name = "g", .mode = OpenMode::read});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().errno_value, ENOENT);
}

/// Where the system says nothing of nodes there is nothing to say.
TEST_P(MemoryBackend, SaysWhereItsPagesAre) {
  const auto backend = make({{"node", 0}, {"populate", true}});
  write(*backend, "f", Transfers(1, 4096, 1), std::uint64_t{4} << 20);
  const Map hints = backend->hints_granted();
  EXPECT_EQ(hints.at("pages"), GetParam());
  int node = -1;
  const void* page = &node;
  const bool says = syscall(SYS_move_pages, 0, 1, &page, nullptr, &node, 0) == 0;
  EXPECT_EQ(hints.at("nodes"), says ? "0" : "not available");
  EXPECT_TRUE(backend->inspect("f"));
}

TEST_P(MemoryBackend, ANodeThatIsNotThereIsRefused) {
  const auto backend = make({{"node", 1000}});
  const auto file = backend->open({.name = "f", .expected_bytes = 4096});
  ASSERT_FALSE(file);
  EXPECT_NE(line_of(file).find("there is no such node"), std::string::npos) << line_of(file);
}

TEST_P(MemoryBackend, MoreThanThereIsIsRefused) {
  const auto backend = make();
  const auto file = backend->open({.name = "f", .expected_bytes = std::uint64_t{1} << 46U});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().errno_value, ENOMEM) << line_of(file);
}

INSTANTIATE_TEST_SUITE_P(Of, MemoryBackend, testing::Values("heap", "shared", "huge"),
                         [](const auto& pages) { return pages.param; });

TEST(MpiMemoryBackend, RanksReadTheMemoryOfOthers) {
  Bench bench;
  const mpi::Topology& topology = bench.world().topology();
  const auto backend = bench.make("memory", {{"pages", "shared"}});
  const auto key = [](int rank) { return 7U + static_cast<unsigned>(rank); };
  Transfers own(3, 5000, key(topology.rank));
  {
    const auto file = opened(*backend, {.name = "f" + std::to_string(topology.rank), .expected_bytes = 15'000});
    RunningMeter meter;
    EXPECT_TRUE(file->transfer(Direction::write, own.extents(), *meter));
  }
  bench.world().all().barrier();
  const int next = (topology.rank + 1) % topology.ranks;
  Transfers others(3, 5000, key(next));
  EXPECT_EQ(test::wrong_bytes_read_back(*backend, "f" + std::to_string(next), others), 0U);
  bench.world().all().barrier();
}

TEST(MpiMemoryBackend, RanksShareAFileOrAllAreRefused) {
  Bench bench;
  const mpi::Topology& topology = bench.world().topology();
  const auto rank = static_cast<std::uint64_t>(topology.rank);
  const auto bytes = static_cast<std::uint64_t>(topology.ranks) * 15'000;
  Transfers own(3, 5000, 7 + static_cast<unsigned>(rank), rank * 15'000);
  const auto backend = bench.make("memory", {{"pages", "shared"}});
  const auto file = opened(*backend, {.name = "s", .shared = true, .expected_bytes = bytes});
  RunningMeter meter;
  EXPECT_TRUE(file->transfer(Direction::write, own.extents(), *meter));
  bench.world().all().barrier();
  own.poison();
  const auto again = opened(*backend, {.name = "s", .mode = OpenMode::read, .shared = true, .expected_bytes = bytes});
  EXPECT_TRUE(again->transfer(Direction::read, own.extents(), *meter));
  EXPECT_EQ(own.wrong_bytes(), 0U);
  const auto alone = bench.make("memory");
  const auto refused = alone->open({.name = "s", .shared = true, .expected_bytes = bytes});
  EXPECT_EQ(refused.has_value(), topology.ranks == 1);
  if (!refused) {
    EXPECT_NE(line_of(refused).find("use pages shared"), std::string::npos) << line_of(refused);
  }
}

}  // namespace ullage::memory_backend_test
