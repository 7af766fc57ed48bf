// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/procfs.hpp"
#include "probes/probe.hpp"

namespace ullage::node_test {

TEST(MpiNode, EveryNodeReportsOnceInOrder) {
  const int rank = mpi::Comm::world().rank();
  const int ranks = mpi::Comm::world().size();
  const mpi::World world(rank < 2 ? "first" : "host-" + std::to_string(rank));
  std::vector<std::string> nodes;
  report_nodes(world, [&](const std::string& node, const Json& facts) {
    nodes.push_back(node);
    EXPECT_EQ(facts["ranks"], node == "first" ? std::min(2, ranks) : 1);
    EXPECT_TRUE(facts["kernel_release"].is_string());
    EXPECT_GT(facts["memory_bytes"].get<std::uint64_t>(), 0U);
    EXPECT_GE(facts["cores_available"].get<int>(), 1);
    EXPECT_GE(parse_cpu_list(facts["cpus"].get<std::string>()).size(), facts["cores_available"].get<std::size_t>());
    EXPECT_LE(facts["pinned_ranks"], facts["ranks"]);
    if (!facts["cpu_mhz"].is_null()) {
      EXPECT_GT(facts["cpu_mhz"].get<double>(), 100.0);
    }
  });
  std::vector<std::string> expected;
  if (rank == 0) expected = {"first"};
  for (int other = 2; rank == 0 && other < ranks; ++other) expected.push_back("host-" + std::to_string(other));
  EXPECT_EQ(nodes, expected);
}

TEST(MpiNode, IsListedAmongTheProbes) { EXPECT_NE(Registry<ProbeEntry>::instance().find("node"), nullptr); }

}  // namespace ullage::node_test
