// SPDX-License-Identifier: Apache-2.0
#include "run/reductions.hpp"

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "mpi/comm.hpp"

namespace ullage::reductions_test {

TEST(MpiReductions, GiveWhatTheyMustOnEveryRankCount) {
  const mpi::Comm world = mpi::Comm::world();
  const Json found = measure_reductions(process_memory(), 2);
  if (world.rank() != 0) {
    EXPECT_TRUE(found.is_null());
    return;
  }
  EXPECT_TRUE(all_right(found)) << json_text(found);
  EXPECT_EQ(found["ranks"], world.size());
  EXPECT_EQ(found["times"], 2);
  std::set<std::string> names;
  for (const Json& step : found["steps"]) {
    names.insert(step["name"]);
    EXPECT_GT(step["least_ns"], 0);
    EXPECT_LE(step["least_ns"], step["median_ns"]);
  }
  EXPECT_EQ(names.size(), found["steps"].size());
  EXPECT_TRUE(names.contains("record"));
  EXPECT_GT(found["record_bytes"], 0);
  EXPECT_LT(found["record_bytes"], 8192) << "whatever the number of ranks";
}

TEST(MpiReductions, MemoryIsThatOfAllRanks) {
  const mpi::Comm world = mpi::Comm::world();
  const Json found = measure_reductions({100, 10, 1}, 1);
  if (world.rank() != 0) return;
  const Json& before = found["memory"]["before"];
  EXPECT_EQ(before["resident"], (Json{{"most", 100}, {"sum", 100 * world.size()}}));
  EXPECT_EQ(before["private"], (Json{{"most", 1}, {"sum", world.size()}}));
}

TEST(Reductions, AStepThatIsWrongIsNamed) {
  const Json found{{"steps",
                    {{{"name", "agreement"}, {"right", true}},
                     {{"name", "split"}, {"right", false}},
                     {{"name", "record"}, {"right", false}}}}};
  const Status status = all_right(found);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().text.find("split, record"), std::string::npos);
}

TEST(Reductions, TheKernelSaysWhatThisProcessHolds) {
  const ProcessMemory memory = process_memory();
  if (memory.resident_bytes == 0) GTEST_SKIP() << "not available: /proc/self/smaps_rollup";
  EXPECT_GE(memory.resident_bytes, memory.proportional_bytes);
  EXPECT_GE(memory.proportional_bytes, memory.private_bytes);
}

}  // namespace ullage::reductions_test
