// SPDX-License-Identifier: Apache-2.0
// Workload `updates` as a plan has it.
#include <gtest/gtest.h>

#include "memory/test_support.hpp"
#include "memory/updates/updates.hpp"

namespace ullage::updates_test {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, UpdatesAreCountedAndVerified) {
  const Values given{{"threads", 2}, {"table_bytes", 1 << 20}};
  ASSERT_EQ(run("updates", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(static_cast<std::int64_t>(sum("updates")) % (2 * 8 * 128), 0);
  EXPECT_GT(sum("updates"), 0);
  EXPECT_LE(sum("errors"), 0.01 * (1 << 17) * world_.size());
}

TEST_F(MpiMemoryWorkload, UpdatesRefuseATableThatIsNoPowerOfTwo) {
  EXPECT_FALSE(entry("updates").works_on_storage());
  EXPECT_EQ(refusal("updates", {}), "");
  EXPECT_NE(refusal("updates", {{"table_bytes", 3000}}).find("/p/table_bytes"), std::string::npos);
}

UpdatesParameters parameters(std::uint64_t bytes, int threads) {
  UpdatesParameters p;
  p.table_bytes = bytes;
  p.threads = threads;
  return p;
}

TEST(UpdateStart, IsThatManyNumbersFurther) {
  std::uint64_t number = 1;
  for (std::uint64_t n = 0; n < 300; ++n) {
    ASSERT_EQ(update_start(n), number) << n;
    number = next_update(number);
  }
}

TEST(UpdateStart, SequenceRepeatsAfterItsPeriod) {
  EXPECT_EQ(next_update(update_start(update_period - 1)), 1U);
  EXPECT_EQ(update_start(update_period + 5), update_start(5));
  EXPECT_EQ(next_update(update_start(1'000'000'007)), update_start(1'000'000'008));
}

TEST(UpdateLanes, OfAllThreadsBeginApart) {
  std::set<std::uint64_t> starts;
  for (std::uint64_t thread = 0; thread < 3; ++thread)
    for (const std::uint64_t start : update_lanes_of(thread, 3)) starts.insert(start);
  EXPECT_EQ(starts.size(), 3 * update_lanes);
  EXPECT_EQ(update_lanes_of(0, 3)[0], 1U);
}

TEST(UpdateTable, ChangesThePlaceThatTheNumberNames) {
  std::vector<std::uint64_t> table(8);
  UpdateLanes lanes{};
  lanes[0] = 5;  // all others stay 0 and change nothing
  update_table(table, lanes, 2);
  EXPECT_EQ(lanes[0], 20U);
  EXPECT_EQ(table[10 & 7], 10U);
  EXPECT_EQ(table[20 & 7], 20U);
}

TEST(UpdatesKernel, AllUpdatesAreUndoneByDoingThemAgain) {
  UpdatesKernel kernel(parameters(1 << 16, 2), 1);
  for (const std::size_t thread : {0U, 1U}) ASSERT_TRUE(kernel.make_ready(thread));
  for (const std::size_t thread : {0U, 1U}) kernel.run(thread, 2);
  kernel.run(0, 1);
  std::uint64_t changed = 0;
  for (std::uint64_t i = 0; i < kernel.elements().size(); ++i) changed += kernel.elements()[i] != i ? 1 : 0;
  EXPECT_GT(changed, 1000U);
  ASSERT_TRUE(kernel.check());
  Gauges gauges;
  WindowTotals totals;
  totals.passes = 5;
  totals.threads = 2;
  kernel.report(totals, gauges);
  EXPECT_EQ(gauges["errors"], 0);
  EXPECT_EQ(gauges["updates"], 5.0 * 2 * UpdatesKernel::rounds_a_pass * update_lanes);
}

TEST(UpdatesKernel, OneElementInAHundredMayBeWrongAndNoMore) {
  UpdatesKernel kernel(parameters(8 * 1024, 1), 1);
  ASSERT_TRUE(kernel.make_ready(0));
  kernel.run(0, 1);
  for (std::size_t i = 0; i < 10; ++i) kernel.elements()[i] ^= 1;
  EXPECT_TRUE(kernel.check());
  Gauges gauges;
  kernel.report({}, gauges);
  EXPECT_EQ(gauges["errors"], 10);
  kernel.run(0, 1);
  for (std::size_t i = 0; i < 21; ++i) kernel.elements()[i] ^= 1;
  EXPECT_FALSE(kernel.check());
}

TEST(UpdatesKernel, TableMustBeAPowerOfTwoThatFits) {
  EXPECT_TRUE(check_updates(parameters(8, 1), "/p"));
  EXPECT_FALSE(check_updates(parameters(3 * 4096, 1), "/p"));
  UpdatesKernel kernel(parameters(std::uint64_t{1} << 49U, 1), 1);
  const Status status = kernel.make_ready(0);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where, "table_bytes");
}

}  // namespace ullage::updates_test
