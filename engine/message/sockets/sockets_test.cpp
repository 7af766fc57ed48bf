// SPDX-License-Identifier: Apache-2.0
// Workload `sockets` as a plan has it.
#include <gtest/gtest.h>

#include "run/workload_test_support.hpp"

namespace ullage::sockets_test {
namespace {

TEST(MpiSocketsWorkload, RunsAsALaunchMakesIt) {
  Json record;
  const Values given{{"seconds", 0.01}, {"warm_up_s", 0.0}, {"block_bytes", std::int64_t{1000}}};
  ASSERT_EQ(test::run_workload("sockets", given, record), PhaseStatus::ok) << record.dump();
  if (const mpi::World world; world.root()) {
    EXPECT_EQ(record["phase"], "sockets");
  }
}

TEST(SocketsWorkload, IsRefusedForOneRankAndForWhatDoesNotGoTogether) {
  EXPECT_FALSE(test::Launch::entry("sockets").works_on_storage());
  const Values echoes{{"protocol", "icmp"}};
  EXPECT_NE(test::Launch::refusal("sockets", echoes, 1).find("two ranks"), std::string::npos);
  EXPECT_NE(test::Launch::refusal("sockets", echoes, 2).find("/p/mode"), std::string::npos);
}

}  // namespace
}  // namespace ullage::sockets_test
