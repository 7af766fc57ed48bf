// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "storage/test_support.hpp"

namespace ullage::mpiio_test {

using namespace test;

constexpr std::size_t length_bytes = 16 << 10;

/// This rank's part of a shared file.
Transfers own_part(const Bench& bench, unsigned key = 1) {
  return {4, length_bytes, key, static_cast<std::uint64_t>(bench.world().rank()) * 4 * length_bytes};
}

Status move(Backend& backend, const OpenRequest& request, const Transfers& transfers,
            std::uint64_t* operations = nullptr) {
  const bool writes = request.mode != OpenMode::read;
  auto file = backend.open(request);
  if (!file) return fail(file.error());
  RunningMeter meter;
  Status status = (*file)->transfer(writes ? Direction::write : Direction::read, transfers.extents(), *meter);
  if (operations != nullptr) *operations = meter->operations();
  if (writes && status) status = (*file)->sync();
  const Status closed = (*file)->close();
  return status ? closed : status;
}

class MpiMpiio : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] Values given() const { return {{"collective", GetParam()}}; }
};

TEST_P(MpiMpiio, SharedFileComesBack) {
  Bench bench;
  const auto backend = bench.make("mpiio", given());
  EXPECT_EQ(backend->capabilities().collective, GetParam());
  Transfers transfers = own_part(bench);
  std::uint64_t operations = 0;
  const auto written = move(*backend, {"shared", OpenMode::create, true, 0}, transfers, &operations);
  ASSERT_TRUE(written) << line_of(written);
  EXPECT_EQ(operations, 4U);
  const auto extents = backend->inspect("shared");
  ASSERT_TRUE(extents);
  EXPECT_EQ(extents->size_bytes, 4 * length_bytes * static_cast<std::size_t>(bench.world().size()));
  EXPECT_TRUE(extents->fully_written);
  transfers.poison();
  const auto read = move(*backend, {"shared", OpenMode::read, true, 0}, transfers);
  ASSERT_TRUE(read) << line_of(read);
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
}

TEST_P(MpiMpiio, OwnFilesComeBack) {
  Bench bench;
  const auto backend = bench.make("mpiio", given());
  const std::string name = "own" + std::to_string(bench.world().rank());
  Transfers transfers(3, length_bytes, 5);
  for (const auto mode : {OpenMode::create, OpenMode::overwrite, OpenMode::read}) {
    if (mode == OpenMode::read) transfers.poison();
    const auto moved = move(*backend, {name, mode, false, 0}, transfers);
    ASSERT_TRUE(moved) << line_of(moved);
  }
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
  EXPECT_TRUE(backend->remove_file(name));
}

TEST_P(MpiMpiio, CreateRefusesWhatIsThereOnAllRanks) {
  Bench bench;
  const auto backend = bench.make("mpiio", given());
  if (bench.world().root()) test::write_file(bench.path("shared"), "there already");
  bench.world().all().barrier();
  const auto file = backend->open({"shared", OpenMode::create, true, 0});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().operation, "open");
  EXPECT_FALSE(backend->open({"none", OpenMode::read, true, 0}));
  EXPECT_FALSE(backend->open({"none", OpenMode::overwrite, true, 0}));
  bench.world().all().barrier();
  if (bench.world().root()) {
    EXPECT_EQ(test::read_file(bench.path("shared")), "there already");
  }
}

TEST_P(MpiMpiio, EndOfFileInsideATransferNamesTheOffset) {
  Bench bench;
  const auto backend = bench.make("mpiio", given());
  if (bench.world().root()) test::write_file(bench.path("shared"), std::string(length_bytes + 100, 'x'));
  bench.world().all().barrier();
  const Transfers transfers(3, length_bytes, 1);  // every rank reads the same
  std::uint64_t operations = 0;
  const auto read = move(*backend, {"shared", OpenMode::read, true, 0}, transfers, &operations);
  ASSERT_FALSE(read);
  EXPECT_EQ(operations, 1U);
  EXPECT_EQ(read.error().operation, "read");
  EXPECT_EQ(read.error().offset_bytes, length_bytes + 100);
  EXPECT_NE(read.error().text.find("end of file inside a transfer"), std::string::npos);
}

/// One rank's failure must not leave the others waiting, neither in an operation nor in sync nor in close.
TEST_P(MpiMpiio, OneRanksFailureLeavesNobodyWaiting) {
  Bench bench;
  const int last = bench.world().size() - 1;
  const auto backend = bench.make("fault", {{"inner", std::string("mpiio")},
                                            {"inner_parameters", Map{{"collective", GetParam() ? "true" : "false"}}},
                                            {"after", 1},
                                            {"rank", std::int64_t{last}}});
  const Transfers transfers = own_part(bench);
  auto file = backend->open({"shared", OpenMode::create, true, 0});
  ASSERT_TRUE(file) << line_of(file);
  RunningMeter meter;
  const bool suffers = bench.world().rank() == last;
  const Status first = (*file)->transfer(Direction::write, transfers.extents().first(2), *meter);
  EXPECT_EQ(first.has_value(), !suffers);
  if (GetParam() || !suffers) {
    const Status second = (*file)->transfer(Direction::write, transfers.extents().subspan(2), *meter);
    EXPECT_EQ(second.has_value(), !suffers);
  }
  EXPECT_EQ(meter->operations(), suffers ? 1U : 4U);
  if (!suffers) {
    EXPECT_TRUE((*file)->sync());  // the rank that suffers is already closing
  }
  EXPECT_TRUE((*file)->close());
}

TEST_P(MpiMpiio, ShortCallsOfOneRankKeepTheOthersInStep) {
  Bench bench;
  const auto backend = bench.make("fault", {{"inner", std::string("mpiio")},
                                            {"inner_parameters", Map{{"collective", GetParam() ? "true" : "false"}}},
                                            {"kind", std::string("short")},
                                            {"after", 1},
                                            {"count", 2},
                                            {"rank", 0}});
  Transfers transfers = own_part(bench);
  std::uint64_t operations = 0;
  const auto written = move(*backend, {"shared", OpenMode::create, true, 0}, transfers, &operations);
  ASSERT_TRUE(written) << line_of(written);
  EXPECT_EQ(operations, 4U);
  transfers.poison();
  ASSERT_TRUE(move(*backend, {"shared", OpenMode::read, true, 0}, transfers));
  EXPECT_EQ(transfers.wrong_bytes(), 0U);
}

TEST_P(MpiMpiio, ARankWithFewerSyncsGoesAlong) {
  Bench bench;
  const auto backend = bench.make("mpiio", given());
  auto file = backend->open({"shared", OpenMode::create, true, 0});
  ASSERT_TRUE(file) << line_of(file);
  for (int i = 0; i <= bench.world().rank(); ++i) EXPECT_TRUE((*file)->sync());
  EXPECT_TRUE((*file)->close());
}

INSTANTIATE_TEST_SUITE_P(Mpi, MpiMpiio, testing::Bool(),
                         [](const auto& way) { return way.param ? "Collective" : "Independent"; });

TEST(MpiMpiioHints, GivenAndGrantedAreBothKnown) {
  Bench bench;
  const Map hints{{"cb_buffer_size", "1048576"}};
  const auto backend = bench.make("mpiio", {{"hints", hints}});
  EXPECT_EQ(backend->hints_given(), hints);
  const auto file = backend->open({"shared", OpenMode::create, true, 0});
  ASSERT_TRUE(file) << line_of(file);
  const Map granted = (*file)->hints_granted();
  if (mpi::mpi_io_component() == "romio") {
    EXPECT_EQ(granted.at("cb_buffer_size"), "1048576");
  }
  for (const auto& [key, value] : granted) EXPECT_FALSE(key.empty());
  EXPECT_TRUE((*file)->close());
}

TEST(MpiMpiioHints, ImpossibleOnesAreRefused) {
  Bench bench;
  for (const Map& hints :
       {Map{{"", "x"}}, Map{{"key", ""}}, Map{{std::string(5000, 'k'), "x"}}, Map{{"key", std::string(5000, 'v')}}}) {
    const auto backend = bench.try_make("mpiio", {{"hints", hints}});
    ASSERT_FALSE(backend);
    EXPECT_NE(backend.error().text.find("characters"), std::string::npos);
  }
}

TEST(MpiMpiioFile, PreallocateMakesTheWholeFile) {
  Bench bench;
  const auto backend = bench.make("mpiio", {{"preallocate", true}});
  const auto file = backend->open({"shared", OpenMode::create, true, 1 << 20});
  ASSERT_TRUE(file) << line_of(file);
  EXPECT_EQ(std::filesystem::file_size(bench.path("shared")), 1U << 20);
  EXPECT_TRUE((*file)->close());
}

TEST(MpiMpiioFile, PlantedLinkIsRefusedOnAllRanks) {
  Bench bench;
  if (bench.world().root()) {
    std::filesystem::create_symlink("/etc/hostname", bench.path("shared"));
    std::filesystem::create_directory_symlink("/etc", bench.path("c-aa"));
  }
  bench.world().all().barrier();
  const auto backend = bench.make("mpiio");
  for (const char* name : {"shared", "c-aa/hostname"}) {
    const auto file = backend->open({name, OpenMode::read, true, 0});
    ASSERT_FALSE(file) << name;
    EXPECT_EQ(file.error().errno_value, ELOOP);
  }
}

TEST(OneRankMpiio, AnyCharactersInTheTarget) {
  const test::TempFolder folder;
  const std::string odd = folder.path() + "/nfs:a b'c\"d<script>:e\n;é";
  std::filesystem::create_directory(odd);
  Bench bench(odd, nullptr);
  const auto backend = bench.make("mpiio");
  Transfers transfers(2, length_bytes, 1);
  const auto written = move(*backend, {"f", OpenMode::create, false, 0}, transfers);
  ASSERT_TRUE(written) << line_of(written);
  EXPECT_EQ(std::filesystem::file_size(bench.path("f")), 2 * length_bytes);
}

TEST(OneRankMpiio, FullFileSystemIsSeen) {
  if (mpi::mpi_io_component() == "ompio") GTEST_SKIP() << "OMPIO answers success when a write fails, and then hangs";
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("mpiio");
  const Transfers transfers(4, 400'000, 1);
  std::uint64_t operations = 0;
  const auto written = move(*backend, {"f", OpenMode::create, false, 0}, transfers, &operations);
  ASSERT_FALSE(written);
  EXPECT_EQ(operations, 2U);
  EXPECT_GE(written.error().offset_bytes, 800'000U) << line_of(written);
  EXPECT_TRUE(written.error().errno_value == ENOSPC || written.error().errno_value == EIO)
      << "not every ROMIO says which: " << line_of(written);
}

}  // namespace ullage::mpiio_test
