// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/hdf5_library.hpp"
#include "storage/test_support.hpp"

namespace ullage::hdf5_test {

using namespace test;

constexpr std::size_t length_bytes = 16 << 10;
constexpr std::size_t transfers_a_rank = 4;

Transfers own_part(const Bench& bench) {
  return {transfers_a_rank, length_bytes, 1,
          static_cast<std::uint64_t>(bench.world().rank()) * transfers_a_rank * length_bytes};
}

OpenRequest shared_file(const Bench& bench, OpenMode mode) {
  return {"shared", mode, true, transfers_a_rank * length_bytes * static_cast<std::uint64_t>(bench.world().size())};
}

Status move(Backend& backend, const OpenRequest& request, const Transfers& transfers, Map* granted = nullptr) {
  const bool writes = request.mode != OpenMode::read;
  auto file = backend.open(request);
  if (!file) return fail(file.error());
  RunningMeter meter;
  Status status = (*file)->transfer(writes ? Direction::write : Direction::read, transfers.extents(), *meter);
  if (writes && status) status = (*file)->sync();
  const Status closed = (*file)->close();
  if (granted != nullptr) *granted = (*file)->hints_granted();
  return status ? closed : status;
}

class MpiHdf5 : public testing::TestWithParam<Values> {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  }
};

TEST_P(MpiHdf5, SharedFileComesBack) {
  Bench bench;
  const auto backend = bench.make("hdf5", GetParam());
  Transfers transfers = own_part(bench);
  for (const auto mode : {OpenMode::create, OpenMode::overwrite}) {
    const auto written = move(*backend, shared_file(bench, mode), transfers);
    ASSERT_TRUE(written) << line_of(written);
  }
  bench.world().all().barrier();
  const auto extents = backend->inspect("shared");
  ASSERT_TRUE(extents) << line_of(extents);
  EXPECT_EQ(extents->size_bytes, shared_file(bench, OpenMode::read).expected_bytes);
  EXPECT_TRUE(extents->fully_written);
  transfers.poison();
  Map granted;
  const auto read = move(*backend, shared_file(bench, OpenMode::read), transfers, &granted);
  ASSERT_TRUE(read) << line_of(read);
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
  EXPECT_FALSE(granted["hdf5.version"].empty());
  const bool collective = GetParam().contains("collective");
  EXPECT_EQ(granted["hdf5.io_mode"].find("collective") != std::string::npos, collective) << granted["hdf5.io_mode"];
}

TEST_P(MpiHdf5, AnErrorOfOneRankLeavesNobodyWaiting) {
  Bench bench;
  const int last = bench.world().size() - 1;
  Map inner;
  for (const auto& [name, value] : GetParam())
    inner[name] = std::holds_alternative<bool>(value) ? "true" : std::to_string(std::get<std::int64_t>(value));
  const auto backend = bench.make("fault", {{"inner", std::string("hdf5")},
                                            {"inner_parameters", inner},
                                            {"kind", std::string("enospc")},
                                            {"after", 1},
                                            {"rank", std::int64_t{last}}});
  const bool suffers = bench.world().rank() == last;
  const Status written = move(*backend, shared_file(bench, OpenMode::create), own_part(bench));
  ASSERT_EQ(written.has_value(), !suffers || false) << line_of(written);
  if (suffers) {
    EXPECT_EQ(written.error().errno_value, ENOSPC);
  }
}

TEST_P(MpiHdf5, OwnFilesComeBack) {
  Bench bench;
  const auto backend = bench.make("hdf5", GetParam());
  const std::string name = "own" + std::to_string(bench.world().rank());
  Transfers transfers(3, length_bytes, 5);
  for (const auto mode : {OpenMode::create, OpenMode::read}) {
    if (mode == OpenMode::read) transfers.poison();
    const auto moved = move(*backend, {name, mode, false, 3 * length_bytes}, transfers);
    ASSERT_TRUE(moved) << line_of(moved);
  }
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
  EXPECT_TRUE(backend->remove_file(name));
}

TEST_P(MpiHdf5, TheEndOfTheDatasetInsideATransferIsAnError) {
  Bench bench;
  const auto backend = bench.make("hdf5", GetParam());
  const Transfers transfers = own_part(bench);
  ASSERT_TRUE(move(*backend, shared_file(bench, OpenMode::create), transfers));
  const Transfers beyond{1, length_bytes, 1, shared_file(bench, OpenMode::read).expected_bytes - 100};
  const auto read = move(*backend, shared_file(bench, OpenMode::read), beyond);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text, "end of the dataset inside a transfer");
}

INSTANTIATE_TEST_SUITE_P(Ways, MpiHdf5,
                         testing::Values(Values{}, Values{{"collective", true}}, Values{{"chunk_bytes", 10'000}},
                                         Values{{"collective", true}, {"chunk_bytes", 65'536}},
                                         Values{{"collective", true}, {"collective_metadata", true}},
                                         Values{{"alignment_bytes", 1 << 16}, {"new_format", true}}));

class MpiHdf5Files : public testing::Test {
 protected:
  void SetUp() override {
    if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  }
};

TEST_F(MpiHdf5Files, ForeignFilesAndLinksAreRefusedOnAllRanks) {
  Bench bench;
  if (bench.world().root()) {
    test::write_file(bench.path("shared"), "there already");
    std::filesystem::create_symlink("/etc/hostname", bench.path("link"));
  }
  bench.world().all().barrier();
  const auto backend = bench.make("hdf5");
  EXPECT_FALSE(backend->open({"shared", OpenMode::create, true, 8}));
  const auto link = backend->open({"link", OpenMode::read, true, 8});
  ASSERT_FALSE(link);
  EXPECT_EQ(link.error().errno_value, ELOOP);
  EXPECT_FALSE(backend->open({"shared", OpenMode::read, true, 8})) << "it is no HDF5";
  bench.world().all().barrier();
  if (bench.world().root()) {
    EXPECT_EQ(test::read_file(bench.path("shared")), "there already");
  }
}

TEST_F(MpiHdf5Files, OffsetsBeyond4GiBAreReached) {
  Bench bench;
  const auto backend = bench.make("hdf5");
  constexpr std::uint64_t far = std::uint64_t{5} << 30;
  const auto rank = static_cast<std::uint64_t>(bench.world().rank());
  Transfers transfers{2, length_bytes, 3, far + rank * 2 * length_bytes};
  const std::uint64_t bytes = far + 2 * length_bytes * static_cast<std::uint64_t>(bench.world().size());
  ASSERT_TRUE(move(*backend, {"f", OpenMode::create, true, bytes}, transfers));
  transfers.poison();
  const auto read = move(*backend, {"f", OpenMode::read, true, bytes}, transfers);
  ASSERT_TRUE(read) << line_of(read);
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
  bench.world().all().barrier();
  const auto extents = backend->inspect("f");
  ASSERT_TRUE(extents);
  EXPECT_EQ(extents->size_bytes, bytes);
  EXPECT_FALSE(extents->fully_written) << "the hole before it was not seen";
}

TEST_F(MpiHdf5Files, WhatTheLibraryRefusesIsNamed) {
  Bench bench;
  const auto backend = bench.try_make("hdf5", {{"evict_on_close", true}});
  if (backend) GTEST_SKIP() << "this HDF5 evicts on close";
  EXPECT_EQ(backend.error().where, "evict_on_close");
  EXPECT_TRUE(backend.error().text.starts_with("is refused by HDF5 ")) << line_of(backend);
}

TEST(OneRankHdf5, FullFileSystemIsOneLineAndTheNextFileIsFine) {
  if (!hdf5_library()) GTEST_SKIP() << hdf5_library().error().text;
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("hdf5");
  const auto written = move(*backend, {"f", OpenMode::create, false, 1'600'000}, Transfers(4, 400'000, 1));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value, ENOSPC) << line_of(written);
  EXPECT_EQ(to_line(written.error()).find('\n'), std::string::npos);
  EXPECT_TRUE(backend->remove_file("f"));
  const auto again = move(*backend, {"g", OpenMode::create, false, 400'000}, Transfers(1, 400'000, 1));
  EXPECT_TRUE(again) << line_of(again);
}

}  // namespace ullage::hdf5_test
