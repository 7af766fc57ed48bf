// SPDX-License-Identifier: Apache-2.0
#include "run/same_build.hpp"

#include <gtest/gtest.h>

#include "run/build/build_facts.hpp"

namespace ullage::same_build_test {

TEST(MpiSameBuild, RanksOfOneBuildGoOn) { EXPECT_TRUE(check_same_build(mpi::Comm::world())); }

/// Both the last rank alone, and all but the first.
TEST(MpiSameBuild, LowestRankOfAnotherBuildIsNamedToAll) {
  const mpi::Comm all = mpi::Comm::world();
  const int last = all.size() - 1;
  if (last == 0) return;
  for (const int first_other : {last, 1}) {
    BuildFacts own = build_facts();
    if (all.rank() >= first_other) own.git = "deadbeef";
    const Status same = check_same_build(all, own);
    ASSERT_FALSE(same);
    EXPECT_EQ(same.error().kind, ErrorKind::environment);
    const std::string ours(build_facts().git);
    const std::string version(build_facts().version);
    EXPECT_EQ(to_line(same.error()), "rank " + std::to_string(first_other) + " on " + mpi::host_name() +
                                         ": runs another build of the engine than rank 0: version " + version +
                                         ", git deadbeef instead of version " + version + ", git " + ours +
                                         "; install one build on all nodes");
  }
}

TEST(MpiSameBuild, FlagsThatDifferAreTold) {
  const mpi::Comm all = mpi::Comm::world();
  BuildFacts own = build_facts();
  if (all.rank() == 1) own.flags = "-O0";
  const Status same = check_same_build(all, own);
  ASSERT_EQ(same.has_value(), all.size() == 1);
  if (!same) {
    EXPECT_NE(to_line(same.error()).find(", flags -O0 instead of "), std::string::npos);
  }
}

}  // namespace ullage::same_build_test
