// SPDX-License-Identifier: Apache-2.0
// Workload `loaded-latency` as a plan has it.
#include "memory/test_support.hpp"

namespace ullage::loaded_latency_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, LoadedLatencyCountsTheChaseAlone) {
  const Values given{{"working_set_bytes", std::int64_t{1} << 18}};
  ASSERT_EQ(run("loaded-latency", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("threads"), 2.0 * world_.size());
  EXPECT_GT(sum("accesses"), 0);
  EXPECT_GT(sum("chase_s"), 0);
  EXPECT_LE(sum("chase_s"), sum("kernel_s"));
}

TEST_F(MpiMemoryWorkload, LoadedLatencyRefusesWhatCannotBe) {
  EXPECT_FALSE(entry("loaded-latency").works_on_storage());
  EXPECT_EQ(refusal("loaded-latency", {}), "");
  EXPECT_NE(refusal("loaded-latency", {{"working_set_bytes", std::int64_t{4096}}}).find("/p/working_set_bytes"),
            std::string::npos);
  EXPECT_NE(refusal("loaded-latency", {{"threads", std::int64_t{2}}}), "");
}

}  // namespace
}  // namespace ullage::loaded_latency_test
