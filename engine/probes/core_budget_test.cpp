// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sched.h>

#include "base/affinity.hpp"
#include "base/cgroup.hpp"
#include "probes/probe.hpp"

namespace ullage::core_budget_test {

/// This thread on one of its CPUs while it lives.
class BoundToOne final : Pinned {
 public:
  BoundToOne() {
    sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
  }
  ~BoundToOne() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

TEST(MpiCoreBudget, BoundRanksArePinnedAndShareTheirUnion) {
  const mpi::World world;
  const BoundToOne bound;
  const CoreBudget budget = core_budget(world);
  EXPECT_TRUE(budget.pinned);
  EXPECT_LE(budget.cores_available, world.size());
  EXPECT_GE(budget.cores_available, 1);
}

TEST(MpiCoreBudget, CpusOfNoRankAreThoseToWhichNoneIsBound) {
  const mpi::World world;
  const BoundToOne bound;
  const std::vector<int> spare = cpus_of_no_rank(world);
  const int mine = own_cpus().front();
  EXPECT_EQ(std::ranges::count(spare, mine), 0);
  for (const int cpu : spare) EXPECT_LT(cpu, sysconf(_SC_NPROCESSORS_CONF));
}

TEST(MpiCoreBudget, NeverMoreThanTheNodeHasOrItsQuotaAllows) {
  const mpi::World world;
  const CoreBudget budget = core_budget(world);
  EXPECT_LE(budget.cores_available, sysconf(_SC_NPROCESSORS_ONLN));
  if (const auto quota = cgroup_cpu_quota(); quota && *quota >= 1) {
    EXPECT_LE(budget.cores_available, *quota);
  }
  EXPECT_EQ(world.node().min(budget.cores_available), world.node().max(budget.cores_available));
}

}  // namespace ullage::core_budget_test
