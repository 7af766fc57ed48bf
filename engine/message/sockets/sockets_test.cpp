// SPDX-License-Identifier: Apache-2.0
// Workload `sockets` as a plan has it.
#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"
#include "storage/backend.hpp"

namespace ullage::sockets_test {
namespace {

TEST(MpiSocketsWorkload, RunsAsALaunchMakesIt) {
  Json record;
  const Values given{{"seconds", 0.01}, {"warm_up_s", 0.0}, {"block_bytes", std::int64_t{1000}}};
  ASSERT_EQ(test::run_workload("sockets", given, record).status, PhaseStatus::ok) << record.dump();
  if (const mpi::World world; world.root()) {
    EXPECT_EQ(record["phase"], "sockets");
  }
}

TEST(SocketsWorkload, IsRefusedForOneRankAndForWhatDoesNotGoTogether) {
  const WorkloadEntry* entry = Registry<WorkloadEntry>::instance().find("sockets");
  ASSERT_NE(entry, nullptr);
  EXPECT_FALSE(entry->works_on_storage());
  PlannedLayout layout;
  const auto values = complete(entry->description.parameters, {{"protocol", "icmp"}}, "").value();
  EXPECT_NE(to_line(entry->check(values, {}, layout, "/w").error()).find("two ranks"), std::string::npos);
  layout.ranks = 2;
  EXPECT_NE(to_line(entry->check(values, {}, layout, "/w").error()).find("/w/mode"), std::string::npos);
}

}  // namespace
}  // namespace ullage::sockets_test
