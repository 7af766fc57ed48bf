// SPDX-License-Identifier: Apache-2.0
// Workload `core-to-core` as a plan has it.
#include "base/affinity.hpp"
#include "memory/test_support.hpp"

namespace ullage::core_to_core_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, CoreToCoreCountsRoundTrips) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "one CPU";
  ASSERT_EQ(run("core-to-core", {}), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("threads"), 2.0 * world_.size());
  EXPECT_GE(sum("round_trips"), 2.0 * 64 * world_.size());
}

TEST_F(MpiMemoryWorkload, CoreToCoreOnACpuThatIsNotThereFailsWithALine) {
  EXPECT_EQ(run("core-to-core", {{"cpu_b", std::int64_t{8191}}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, CoreToCoreNeedsTwoCpusAndNoStorage) {
  EXPECT_FALSE(entry("core-to-core").works_on_storage());
  EXPECT_EQ(refusal("core-to-core", {}), "");
  EXPECT_NE(refusal("core-to-core", {{"cpu_a", std::int64_t{1}}, {"cpu_b", std::int64_t{1}}}).find("/p/cpu_b"),
            std::string::npos);
}

}  // namespace
}  // namespace ullage::core_to_core_test
