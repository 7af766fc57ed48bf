// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <thread>

#include "storage/io_ring.hpp"
#include "storage/test_support.hpp"

namespace ullage::uring_test {

namespace fs = std::filesystem;
using namespace test;

class UringBackend : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto missing = IoRing::missing()) GTEST_SKIP() << *missing;
  }
};
using UringFile = UringBackend;

std::unique_ptr<Backend> ready(Bench& bench, std::span<std::byte> memory, int queue_depth, const Values& given = {}) {
  auto backend = bench.make("uring", given);
  const Status status = backend->make_ready(memory, {.queue_depth = queue_depth});
  EXPECT_TRUE(status) << line_of(status);
  return backend;
}

TEST_F(UringBackend, WhatIsWrittenComesBackAtAnyDepth) {
  Bench bench;
  for (const bool direct : {false, true}) {
    if (direct && !bench.try_make("uring", {{"direct", true}})) continue;  // a file system without O_DIRECT
    for (const int depth : {1, 3, 64}) {
      for (const bool fixed : {false, true}) {
        Transfers transfers(20, 16 << 10, static_cast<unsigned>(depth));
        const auto backend = ready(bench, transfers.memory(), depth, {{"direct", direct}, {"fixed_buffers", fixed}});
        EXPECT_EQ(backend->capabilities().direct, direct);
        write_out(*backend, "f", transfers);
        EXPECT_EQ(fs::file_size(bench.path("f")), 20U * (16 << 10));
        EXPECT_EQ(wrong_bytes_read_back(*backend, "f", transfers), 0U);
        EXPECT_TRUE(backend->remove_file("f"));
      }
    }
  }
}

TEST_F(UringBackend, MemoryOutsideOfWhatWasKeptIsReadAllTheSame) {
  Bench bench;
  Transfers known(2, 4096, 1);
  Transfers foreign(6, 4096, 2);
  const auto backend = ready(bench, known.memory(), 4);
  write_out(*backend, "f", foreign);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "f", foreign), 0U);
  EXPECT_EQ(opened(*backend, {"f", OpenMode::read, false, 0})->hints_granted().at("fixed_buffers"), "yes");
}

/// Below `fault`, which passes on what it is told, so that the depth is served.
TEST_F(UringBackend, FaultsAreInjectedAboveIt) {
  Bench bench;
  const auto backend = bench.make("fault", {{"inner", std::string("uring")},
                                            {"operation", std::string("write")},
                                            {"kind", std::string("eio")},
                                            {"after", 3}});
  Transfers transfers(8, 4096, 1);
  ASSERT_TRUE(backend->make_ready(transfers.memory(), {.queue_depth = 4}));
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  RunningMeter meter;
  const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value, EIO);
}

TEST_F(UringFile, FullFileSystemIsAnErrorAndWhatIsUnderWayEndsFirst) {
  const test::SmallFileSystem small("size=1m");
  if (!small.mounted()) GTEST_SKIP() << "mounting a tmpfs is not permitted here";
  Bench bench(small.path(), nullptr);
  Transfers transfers(40, 100'000, 1);
  const auto backend = ready(bench, transfers.memory(), 8);
  const auto file = opened(*backend, {"f", OpenMode::create, false, 0});
  RunningMeter meter;
  const auto written = file->transfer(Direction::write, transfers.extents(), *meter);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().errno_value, ENOSPC);
  EXPECT_EQ(written.error().where, bench.path("f"));
  EXPECT_LE(meter->operations(), 10U);
  // Nothing of the failed batch comes up in the next one.
  ASSERT_TRUE(file->close());
  ASSERT_TRUE(backend->remove_file("f"));
  Transfers fewer(4, 100'000, 2);
  write_out(*backend, "g", fewer);
  EXPECT_EQ(wrong_bytes_read_back(*backend, "g", fewer), 0U);
}

/// Operations that overlap each last longer than their share of the time. A pause of this process before the first one
/// hides that, so one time of many is enough; a latency taken from the end of the one before would never show it.
TEST_F(UringFile, LatencyIsFromTheBeginningOfEachOperation) {
  Bench bench;
  Transfers transfers(256, 4096, 1);
  const auto backend = ready(bench, transfers.memory(), 32);
  write_out(*backend, "f", transfers);
  const auto file = opened(*backend, {"f", OpenMode::read, false, 0});
  bool overlapped = false;
  for (int time = 0; time < 100 && !overlapped; ++time) {
    RunningMeter meter;
    const std::int64_t begun_ns = now_ns();
    ASSERT_TRUE(file->transfer(Direction::read, transfers.extents(), *meter));
    const auto elapsed_ns = static_cast<std::uint64_t>(now_ns() - begun_ns);
    EXPECT_EQ(meter->histogram().operations(), 256U);
    EXPECT_LE(meter->histogram().sum_ns(), 33 * elapsed_ns);
    overlapped = meter->histogram().sum_ns() > 4 * elapsed_ns;
  }
  EXPECT_TRUE(overlapped);
}

TEST_F(UringFile, ManyMayBeOpenAtOnceAndOneTooManyIsAnError) {
  Bench bench;
  const auto backend = bench.make("uring");
  std::vector<std::unique_ptr<File>> files;
  for (int i = 0; i < 16; ++i) files.push_back(opened(*backend, {"f" + std::to_string(i), OpenMode::create, false, 0}));
  EXPECT_EQ(backend->open({"more", OpenMode::create, false, 0}).error().errno_value, ENFILE);
  ASSERT_TRUE(files.front()->close());
  EXPECT_TRUE(backend->open({"again", OpenMode::create, false, 0}));
}

/// From now on the kernel refuses this thread to wait when it hands over one request. False: it lets nobody forbid
/// that.
bool forbid_waiting_with_one() {
  constexpr auto argument = [](int number) {
    return static_cast<unsigned>(offsetof(seccomp_data, args) + static_cast<std::size_t>(number) * 8);
  };
  constexpr unsigned load = BPF_LD | BPF_W | BPF_ABS;
  constexpr unsigned is_equal = BPF_JMP | BPF_JEQ | BPF_K;
  std::array<sock_filter, 8> steps{{BPF_STMT(load, offsetof(seccomp_data, nr)),
                                    BPF_JUMP(is_equal, SYS_io_uring_enter, 0, 5),
                                    BPF_STMT(load, argument(1)),                               // requests handed over
                                    BPF_JUMP(is_equal, 1, 0, 3), BPF_STMT(load, argument(2)),  // completions waited for
                                    BPF_JUMP(is_equal, 0, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENXIO),
                                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)}};
  const sock_fprog program{steps.size(), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// Of three operations the third is handed over by the wait: two are under way when that fails.
TEST_F(UringFile, AWaitThatFailsLeavesNothingUnderWayAndTheNextTransferHasItsOwn) {
  Bench bench;
  Transfers transfers(5, 4096, 4);
  const auto written = ready(bench, transfers.memory(), 4);
  write_out(*written, "f", transfers);
  bool is_forbidden = false;
  std::thread other([&] {
    const auto backend = ready(bench, transfers.memory(), 4);
    const auto file = opened(*backend, {"f", OpenMode::read, false, 0});
    is_forbidden = forbid_waiting_with_one();
    if (!is_forbidden) return;
    RunningMeter meter;
    const Status refused = file->transfer(Direction::read, transfers.extents().first(3), *meter);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().errno_value, ENXIO);
    EXPECT_EQ(meter->operations(), 0U);
    transfers.poison();
    const Status read = file->transfer(Direction::read, transfers.extents().subspan(3, 2), *meter);
    EXPECT_TRUE(read) << line_of(read);
    EXPECT_EQ(meter->operations(), 2U);
    EXPECT_LE(transfers.wrong_bytes(), 3U * 4096) << "those of the first three";
    EXPECT_TRUE(file->close());
  });
  other.join();
  if (!is_forbidden) GTEST_SKIP() << "the system lets no thread forbid itself a call";
}

}  // namespace ullage::uring_test
