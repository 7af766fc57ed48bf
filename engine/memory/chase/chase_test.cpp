// SPDX-License-Identifier: Apache-2.0
// Workload `chase` as a plan has it.
#include "memory/chase/chase.hpp"

#include <gtest/gtest.h>

#include "memory/test_support.hpp"

namespace ullage::chase_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, ChaseCountsAccessesAndTheTimeOfItsThreads) {
  const Values given{{"threads", 2}, {"working_set_bytes", 1 << 16}, {"locality_bytes", 4096}, {"chains", 2}};
  ASSERT_EQ(run("chase", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(static_cast<std::int64_t>(sum("accesses")) % (2 * 2 * 256), 0);
  EXPECT_GT(sum("accesses"), 0);
  EXPECT_GT(sum("thread_s"), 0);
  EXPECT_LE(sum("thread_s"), 2 * sum("kernel_s") + 1e-9);
}

TEST_F(MpiMemoryWorkload, ChaseRefusesWhatCannotBe) {
  EXPECT_EQ(refusal("chase", {}), "");
  EXPECT_NE(refusal("chase", {{"stride_bytes", 20}}).find("/p/stride_bytes"), std::string::npos);
}

TEST_F(MpiMemoryWorkload, ChaseOnANodeThatIsNotThereFailsWithALine) {
  EXPECT_EQ(run("chase", {{"memory_node", 1000}}), PhaseStatus::failed);
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

std::byte* next(const std::byte* slot) {
  std::byte* to = nullptr;
  std::memcpy(static_cast<void*>(&to), slot, sizeof to);
  return to;
}

TEST(ChaseOrder, NamesEverySlotOnce) {
  for (const std::uint64_t local : {1000U, 16U, 17U, 1U}) {
    auto order = chase_order(1000, local, 5);
    std::ranges::sort(order);
    for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(order[i], i) << local;
  }
}

TEST(ChaseOrder, IsRandomAndSeeded) {
  EXPECT_EQ(chase_order(1000, 1000, 5), chase_order(1000, 1000, 5));
  EXPECT_NE(chase_order(1000, 1000, 5), chase_order(1000, 1000, 6));
  const auto order = chase_order(1000, 1000, 5);
  int neighbours = 0;
  for (std::size_t i = 1; i < order.size(); ++i) neighbours += order[i] == order[i - 1] + 1 ? 1 : 0;
  EXPECT_LT(neighbours, 20);  // one is expected
}

TEST(ChaseOrder, LeavesANeighbourhoodOnlyWhenAllOfItWasVisited) {
  constexpr std::uint64_t local = 48;
  const auto order = chase_order(1000, local, 5);  // the last neighbourhood has 40
  std::set<std::uint64_t> left;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint64_t place = order[i] / local;
    ASSERT_FALSE(left.contains(place)) << i;
    if (i + 1 < order.size() && order[i + 1] / local != place) left.insert(place);
  }
  EXPECT_EQ(left.size(), 1000 / local);
  EXPECT_FALSE(std::ranges::is_sorted(order, {}, [](std::uint32_t slot) { return slot / local; }));
}

TEST(ChaseCycle, IsOneSingleCycleOverAllSlots) {
  for (const ChaseShape& shape : {ChaseShape{64 * 1024, 64, 0}, ChaseShape{64 * 1000, 64, 4096}, ChaseShape{4096, 8, 0},
                                  ChaseShape{128, 64, 0}}) {
    const auto cycle = ChaseCycle::make(shape, Pages::system, -1, 9);
    ASSERT_TRUE(cycle);
    std::set<const std::byte*> seen;
    const std::byte* at = cycle->slot_after(0);
    for (std::uint64_t step = 0; step < shape.slots(); ++step) {
      ASSERT_EQ(at, cycle->slot_after(step));
      seen.insert(at);
      at = next(at);
    }
    EXPECT_EQ(seen.size(), shape.slots());
    EXPECT_EQ(at, cycle->slot_after(0));
    const std::byte* const first = *seen.begin();
    for (const std::byte* const slot : seen) EXPECT_EQ((slot - first) % static_cast<std::ptrdiff_t>(shape.stride), 0);
    EXPECT_EQ(*seen.rbegin() - first, static_cast<std::ptrdiff_t>(shape.stride * (shape.slots() - 1)));
  }
}

TEST(Chase, EveryNumberOfChainsEndsWhereTheCycleLeads) {
  const auto cycle = ChaseCycle::make({64 * 100, 64, 0}, Pages::system, -1, 9);
  ASSERT_TRUE(cycle);
  for (std::size_t chains = 1; chains <= most_chains; ++chains) {
    std::array<const std::byte*, most_chains> at{};
    for (std::size_t chain = 0; chain < chains; ++chain) at.at(chain) = cycle->slot_after(5 * chain);
    chase(std::span(at).first(chains), 3 * chase_unroll);
    for (std::size_t chain = 0; chain < chains; ++chain)
      EXPECT_EQ(at.at(chain), cycle->slot_after(5 * chain + 3 * chase_unroll)) << chains;
    for (std::size_t chain = chains; chain < most_chains; ++chain) EXPECT_EQ(at.at(chain), nullptr);
  }
}

}  // namespace

}  // namespace ullage::chase_test
