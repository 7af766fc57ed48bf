// SPDX-License-Identifier: Apache-2.0
// Workload `chase` as a plan has it.
#include <gtest/gtest.h>

#include <cstring>

#include "memory/chase/chase.hpp"
#include "memory/test_support.hpp"

namespace ullage::chase_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, ChaseCountsAccessesAndTheTimeOfItsThreads) {
  const Values given{{"threads", std::int64_t{2}},
                     {"working_set_bytes", std::int64_t{1} << 16},
                     {"locality_bytes", std::int64_t{4096}},
                     {"chains", std::int64_t{2}}};
  ASSERT_EQ(run("chase", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(static_cast<std::int64_t>(sum("accesses")) % (2 * 2 * 256), 0);
  EXPECT_GT(sum("accesses"), 0);
  EXPECT_GT(sum("thread_s"), 0);
  EXPECT_LE(sum("thread_s"), 2 * sum("kernel_s") + 1e-9);
}

TEST_F(MpiMemoryWorkload, ChaseRefusesWhatCannotBe) {
  EXPECT_EQ(refusal("chase", {}), "");
  EXPECT_NE(refusal("chase", {{"stride_bytes", std::int64_t{20}}}).find("/p/stride_bytes"), std::string::npos);
}

TEST_F(MpiMemoryWorkload, ChaseOnANodeThatIsNotThereFailsWithALine) {
  EXPECT_EQ(run("chase", {{"memory_node", std::int64_t{1000}}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, ChaseNeedsNoStorage) { EXPECT_FALSE(entry("chase").works_on_storage()); }

ChaseParameters parameters(std::uint64_t bytes, int chains) {
  ChaseParameters p;
  p.working_set_bytes = bytes;
  p.chains = chains;
  p.threads = 2;
  return p;
}

std::string refusal(const ChaseParameters& p) {
  const Status status = check_chase(p, "/p");
  return status ? "" : to_line(status.error());
}

TEST(ChaseKernel, PointersAreCarriedAcrossPassesAndWindows) {
  for (const int chains : {1, 3, 16}) {
    ChaseKernel kernel(parameters(64 * 999, chains), 7, 1, Status{});
    for (const std::size_t thread : {0U, 1U}) ASSERT_TRUE(kernel.make_ready(thread));
    for (const std::uint64_t passes : {1U, 2U, 5U}) {
      for (const std::size_t thread : {0U, 1U}) kernel.run(thread, passes);
      EXPECT_TRUE(kernel.check()) << chains << " chains";
    }
  }
}

TEST(ChaseKernel, CorruptedPointerIsFound) {
  ChaseKernel kernel(parameters(64 * 1000, 1), 7, 1, Status{});
  for (const std::size_t thread : {0U, 1U}) ASSERT_TRUE(kernel.make_ready(thread));
  std::byte* const elsewhere = kernel.cycle(1).slot_after(500);
  std::memcpy(kernel.cycle(1).slot_after(100), static_cast<const void*>(&elsewhere), sizeof elsewhere);
  for (const std::size_t thread : {0U, 1U}) kernel.run(thread, 1);
  const Status status = kernel.check();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::verification);
}

TEST(ChaseKernel, ThreadsHaveOrdersOfTheirOwn) {
  ChaseKernel kernel(parameters(64 * 1000, 1), 7, 1, Status{});
  for (const std::size_t thread : {0U, 1U}) ASSERT_TRUE(kernel.make_ready(thread));
  int same = 0;
  const auto offset = [&](std::size_t thread, std::uint64_t step) {
    return kernel.cycle(thread).slot_after(step) - kernel.cycle(thread).slot_after(0);
  };
  for (std::uint64_t step = 1; step < 1000; ++step) same += offset(0, step) == offset(1, step) ? 1 : 0;
  EXPECT_LT(same, 100);
}

TEST(ChaseKernel, CountsTheStepsOfAllChains) {
  const ChaseKernel kernel(parameters(64 * 1000, 3), 7, 1, Status{});
  WindowTotals totals;
  totals.passes = 10;
  totals.threads = 2;
  totals.thread_ns = 5'000'000'000;
  Gauges gauges;
  kernel.report(totals, gauges);
  EXPECT_EQ(gauges["accesses"], 10.0 * 2 * 3 * ChaseKernel::steps_a_pass);
  EXPECT_EQ(gauges["thread_s"], 5);
}

TEST(ChaseKernel, MoreMemoryThanThereIsIsRefusedUntouched) {
  ChaseParameters p = parameters(std::uint64_t{1} << 49U, 1);
  p.stride_bytes = 1 << 20;
  EXPECT_EQ(refusal(p), "");
  ChaseKernel kernel(p, 7, 1, Status{});
  const Status status = kernel.make_ready(0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::environment);
}

TEST(ChaseKernel, ShapesThatCannotBeAreRefused) {
  EXPECT_EQ(refusal(parameters(128, 2)), "");
  EXPECT_NE(refusal(parameters(128, 3)).find("/p/chains"), std::string::npos);
  EXPECT_NE(refusal(parameters(127, 1)).find("two strides"), std::string::npos);
  EXPECT_NE(refusal(parameters(std::uint64_t{1} << 40U, 1)).find("2^32 strides"), std::string::npos);
  ChaseParameters p = parameters(4096, 1);
  p.stride_bytes = 12;
  EXPECT_NE(refusal(p).find("/p/stride_bytes"), std::string::npos);
  p = parameters(4096, 1);
  p.locality_bytes = 100;
  EXPECT_NE(refusal(p).find("/p/locality_bytes"), std::string::npos);
}

}  // namespace
}  // namespace ullage::chase_test
