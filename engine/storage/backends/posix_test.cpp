// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "storage/test_support.hpp"

namespace {

std::atomic<int> fsync_calls = 0;

}  // namespace

/// Takes the C library's place in the test program, to count.
extern "C" int fsync(int fd) {
  ++fsync_calls;
  return static_cast<int>(syscall(SYS_fsync, fd));
}

namespace ullage::posix_test {
namespace {

namespace fs = std::filesystem;
using namespace test;

class PosixBackend : public testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] static bool has_base() { return access(GetParam().c_str(), W_OK) == 0; }
};

TEST_P(PosixBackend, WhatIsWrittenComesBack) {
  if (!has_base()) GTEST_SKIP() << GetParam() << " is not writable here";
  Bench bench(GetParam());
  for (const bool direct : {false, true}) {
    const auto backend = bench.try_make("posix", {{"direct", direct}});
    if (!backend && direct) GTEST_SKIP() << line_of(backend);
    ASSERT_TRUE(backend) << line_of(backend);
    EXPECT_EQ((*backend)->capabilities().direct, direct);
    const std::string name = direct ? "direct" : "buffered";
    Transfers transfers(7, 64 << 10, direct ? 2 : 1);
    write_out(**backend, name, transfers);
    EXPECT_EQ(fs::file_size(bench.path(name)), 7U * (64 << 10));
    EXPECT_EQ(wrong_bytes_read_back(**backend, name, transfers), 0U);
    EXPECT_TRUE((*backend)->remove_file(name));
    EXPECT_FALSE(fs::exists(bench.path(name)));
  }
}

TEST_P(PosixBackend, SeveralThreadsMoveOneFile) {
  if (!has_base()) GTEST_SKIP() << GetParam() << " is not writable here";
  Bench bench(GetParam());
  for (const std::int64_t pieces : {1, 3}) {
    const auto backend = bench.make("posix", {{"vector_pieces", pieces}});
    for (const int threads : {4, 1, 2}) {
      ASSERT_TRUE(backend->make_ready({}, {.threads = threads}));
      Transfers transfers(50, 64 << 10, static_cast<unsigned>(threads));
      write_out(*backend, "f", transfers);
      EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
      EXPECT_TRUE(backend->remove_file("f"));
    }
  }
}

TEST(PosixThreads, AreRefusedWhereAFileHasOnePlace) {
  Bench bench;
  const auto backend = bench.make("posix", {{"positioned", false}});
  EXPECT_TRUE(backend->make_ready({}, {}));
  const auto refused = backend->make_ready({}, {.threads = 2});
  ASSERT_FALSE(refused);
  EXPECT_NE(line_of(refused).find("positioned"), std::string::npos) << line_of(refused);
}

INSTANTIATE_TEST_SUITE_P(On, PosixBackend, testing::Values(fs::temp_directory_path().string(), "/dev/shm"),
                         [](const auto& base) { return base.param == "/dev/shm" ? "Memory" : "Temporary"; });

TEST(PosixDirect, AlignmentIsKnownAndNeeded) {
  Bench bench;
  const auto backend = bench.try_make("posix", {{"direct", true}});
  if (!backend) GTEST_SKIP() << line_of(backend);
  const std::size_t alignment = (*backend)->capabilities().alignment_bytes;
  EXPECT_GE(alignment, 512U);
  EXPECT_LE(alignment, 65536U);
  EXPECT_EQ(bench.make("posix")->capabilities().alignment_bytes, 1U);
  Transfers transfers(4, alignment, 1);
  write_out(**backend, "f", transfers);
  EXPECT_EQ(wrong_bytes_read_back(**backend, "f", transfers), 0U);
}

TEST(PosixFile, CreateRefusesWhatIsThereAndTheOthersWhatIsNot) {
  Bench bench;
  const auto backend = bench.make("posix");
  EXPECT_EQ(backend->open({"f", OpenMode::read, false, 0}).error().errno_value, ENOENT);
  EXPECT_EQ(backend->open({"f", OpenMode::overwrite, false, 0}).error().errno_value, ENOENT);
  Transfers transfers(2, 4096, 1);
  write_out(*backend, "f", transfers);
  EXPECT_EQ(backend->open({"f", OpenMode::create, false, 0}).error().errno_value, EEXIST);
  Transfers over(1, 4096, 9);
  write_out(*backend, "f", over, OpenMode::overwrite);
  EXPECT_EQ(fs::file_size(bench.path("f")), 8192U) << "kept as long as it was";
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", over), 0U);
}

TEST(PosixFile, SyncIsExactlyOneFsync) {
  Bench bench;
  const auto backend = bench.make("posix");
  const Transfers transfers(3, 4096, 1);
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  const int before = fsync_calls;
  RunningMeter meter;
  ASSERT_TRUE(file->transfer(Direction::write, transfers.extents(), *meter));
  EXPECT_EQ(fsync_calls, before);
  ASSERT_TRUE(file->sync());
  EXPECT_EQ(fsync_calls, before + 1);
  ASSERT_TRUE(file->close());
  EXPECT_EQ(fsync_calls, before + 1);
}

TEST(PosixWays, PiecesKeepToTheAlignmentOfDirectIo) {
  Bench bench;
  const auto backend = bench.try_make("posix", {{"direct", true}, {"vector_pieces", 1024}});
  if (!backend) GTEST_SKIP() << line_of(backend);
  Transfers transfers(3, 64 << 10, 4);
  write_out(**backend, "f", transfers);
  EXPECT_EQ(wrong_bytes_read_back(**backend, "f", transfers), 0U);
}

TEST(PosixWays, PiecesWithoutAnOffsetAreRefused) {
  const auto* entry = Registry<BackendEntry>::instance().find("posix");
  const auto values = complete(entry->description.parameters, {{"positioned", false}, {"vector_pieces", 2}}, "");
  ASSERT_TRUE(values);
  const auto status = entry->check(*values, "/p");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "/p/vector_pieces");
}

TEST(PosixFile, PlantedLinkIsRefused) {
  Bench bench;
  const test::TempFolder victim;
  test::write_file(victim.path() + "/precious", "untouched");
  fs::create_symlink(victim.path() + "/precious", bench.path("f"));
  fs::create_directory_symlink(victim.path(), bench.path("c-aa"));
  const auto backend = bench.make("posix");
  for (const auto mode : {OpenMode::create, OpenMode::overwrite, OpenMode::read})
    for (const char* name : {"f", "c-aa/precious"}) EXPECT_FALSE(backend->open({name, mode, false, 0})) << name;
  EXPECT_FALSE(backend->inspect("f"));
  EXPECT_FALSE(backend->drop_cached("c-aa/precious"));
  EXPECT_FALSE(backend->remove_file("c-aa/precious"));
  EXPECT_EQ(test::read_file(victim.path() + "/precious"), "untouched");
}

TEST(PosixPreallocate, FailureGivesTheSpaceBack) {
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  const auto backend = bench.make("posix", {{"preallocate", true}});
  const auto file = backend->open({"f", OpenMode::create, false, 10 << 20});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().errno_value, ENOSPC);
  EXPECT_EQ(file.error().operation, "preallocate");
  EXPECT_GT(RunFolder::space(small.path())->free_bytes, 900'000U);
}

TEST(PosixHints, AreStated) {
  Bench bench;
  EXPECT_TRUE(bench.make("posix")->hints_given().empty());
  const auto backend = bench.make("posix", {{"advice", std::string("random")}});
  EXPECT_EQ(backend->hints_given(), (Map{{"posix_fadvise", "random"}}));
  Transfers transfers(2, 4096, 1);
  write_out(*backend, "f", transfers);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
}

TEST(MpiPosixShared, AllFailWhenTheFirstRankCannotMakeIt) {
  Bench bench;
  const auto backend = bench.make("posix");
  if (bench.world().root()) test::write_file(bench.path("shared"), "there already");
  bench.world().all().barrier();
  const auto file = backend->open({"shared", OpenMode::create, true, 0});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().errno_value, EEXIST);
  if (!bench.world().root()) {
    EXPECT_TRUE(file.error().text.starts_with("rank 0 failed: "));
  }
  EXPECT_FALSE(backend->open({"none", OpenMode::read, true, 0}));
}

TEST(MpiPosixShared, AllFailWhenOneRankCannotOpenIt) {
  Bench bench;
  const auto backend = bench.make("posix");
  const int last = bench.world().size() - 1;
  // Only this rank asks for a name that is not there: as on a node whose storage is its own.
  const std::string name = bench.world().rank() == last ? "elsewhere" : "shared";
  if (bench.world().root()) test::write_file(bench.path("shared"), "text");
  bench.world().all().barrier();
  const auto file = backend->open({name, OpenMode::read, true, 0});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().errno_value, ENOENT);
}

}  // namespace
}  // namespace ullage::posix_test
