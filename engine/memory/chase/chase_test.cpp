// SPDX-License-Identifier: Apache-2.0
// Workload `chase` as a plan has it.
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

}  // namespace
}  // namespace ullage::chase_test
