// SPDX-License-Identifier: Apache-2.0
// Workload `updates` as a plan has it.
#include "memory/test_support.hpp"

namespace ullage::updates_test {
namespace {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, UpdatesAreCountedAndVerified) {
  const Values given{{"threads", std::int64_t{2}}, {"table_bytes", std::int64_t{1} << 20}};
  ASSERT_EQ(run("updates", given), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(static_cast<std::int64_t>(sum("updates")) % (2 * 8 * 128), 0);
  EXPECT_GT(sum("updates"), 0);
  EXPECT_LE(sum("errors"), 0.01 * (1 << 17) * world_.size());
}

TEST_F(MpiMemoryWorkload, UpdatesRefuseATableThatIsNoPowerOfTwo) {
  EXPECT_FALSE(entry("updates").works_on_storage());
  EXPECT_EQ(refusal("updates", {}), "");
  EXPECT_NE(refusal("updates", {{"table_bytes", std::int64_t{3000}}}).find("/p/table_bytes"), std::string::npos);
}

}  // namespace
}  // namespace ullage::updates_test
