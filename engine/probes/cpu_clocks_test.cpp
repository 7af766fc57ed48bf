// SPDX-License-Identifier: Apache-2.0
#include "probes/cpu_clocks.hpp"

#include <gtest/gtest.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <climits>

#include "base/clock.hpp"

namespace ullage::cpu_clocks_test {

std::int64_t own_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

TEST(CpuClocks, ReadWhatTheProcessItselfReads) {
  const std::array<int, 1> self{getpid()};
  const CpuClocks clocks(self);
  const std::int64_t before = own_cpu_ns();
  const auto first = clocks.read_ns();
  while (own_cpu_ns() < before + 5'000'000) {
  }
  const auto second = clocks.read_ns();
  ASSERT_EQ(first.size(), 1U);
  EXPECT_GE(first[0], before);
  EXPECT_GE(CpuClocks::used_ns(first, second), 4'000'000);
  EXPECT_LE(second[0], own_cpu_ns());
}

TEST(CpuClocks, ProcessesThatAreNotThereAreLeftOut) {
  const std::array<int, 5> pids{getpid(), INT_MAX, 4194304, 0, -1};  // the kernel's limit is 4194304
  EXPECT_EQ(CpuClocks(pids).read_ns().size(), 1U);
  EXPECT_TRUE(CpuClocks().read_ns().empty());
}

TEST(CpuClocks, EndedAndForeignReadingsCountNothing) {
  const std::array<std::int64_t, 3> before{100, 200, -1};
  const std::array<std::int64_t, 3> after{150, -1, 30};
  EXPECT_EQ(CpuClocks::used_ns(before, after), 50);
  EXPECT_EQ(CpuClocks::used_ns(before, std::array<std::int64_t, 1>{500}), 0);
}

TEST(CpuClocks, KernelThreadsAreNotThisProcess) {
  const auto threads = kernel_threads();
  if (!threads) GTEST_SKIP() << "this process namespace shows no kernel threads";
  EXPECT_FALSE(threads->empty());
  for (const int pid : *threads) EXPECT_NE(pid, getpid());
}

}  // namespace ullage::cpu_clocks_test

namespace ullage::clock_chain_test {

TEST(ClockChain, IsWorkThatTheCompilerCannotSkip) {
  EXPECT_GT(clock_chain_ns(), 500);  // 2000 dependent multiplications at 4 GHz take more than twice as long
}

}  // namespace ullage::clock_chain_test
