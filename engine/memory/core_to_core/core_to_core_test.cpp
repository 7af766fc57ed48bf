// SPDX-License-Identifier: Apache-2.0
// Workload `core-to-core` as a plan has it.
#include <gtest/gtest.h>

#include "memory/core_to_core/core_to_core.hpp"
#include "memory/test_support.hpp"

namespace ullage::core_to_core_test {

using test::MpiMemoryWorkload;

TEST_F(MpiMemoryWorkload, CoreToCoreCountsRoundTrips) {
  if (allowed_cpus().size() < 2) GTEST_SKIP() << "one CPU";
  ASSERT_EQ(run("core-to-core", {}), PhaseStatus::ok);
  if (!world_.root()) return;
  EXPECT_EQ(sum("threads"), 2.0 * world_.size());
  EXPECT_GE(sum("round_trips"), 2.0 * 64 * world_.size());
}

TEST_F(MpiMemoryWorkload, CoreToCoreOnACpuThatIsNotThereFailsWithALine) {
  EXPECT_EQ(run("core-to-core", {{"cpu_b", 8191}}), PhaseStatus::failed);
}

TEST_F(MpiMemoryWorkload, CoreToCoreNeedsTwoCpusAndNoStorage) {
  EXPECT_FALSE(entry("core-to-core").works_on_storage());
  EXPECT_EQ(refusal("core-to-core", {}), "");
  EXPECT_NE(refusal("core-to-core", {{"cpu_a", 1}, {"cpu_b", 1}}).find("/p/cpu_b"), std::string::npos);
}

void run_both(CoreToCoreKernel& kernel, std::uint64_t passes) {
  const std::jthread other([&] { kernel.run(1, passes); });
  kernel.run(0, passes);
}

TEST(CoreToCore, CounterGoesUpByTwoARoundTripFromWindowToWindow) {
  CoreToCoreKernel kernel{Status{}};
  run_both(kernel, 1);
  run_both(kernel, 2);
  EXPECT_EQ(kernel.counter(), 2 * 3 * CoreToCoreKernel::trips_a_pass);
  EXPECT_TRUE(kernel.check());
  kernel.counter() += 1;
  const Status status = kernel.check();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::verification);
}

TEST(CoreToCore, CountsRoundTripsAndNotThreads) {
  const CoreToCoreKernel kernel{Status{}};
  WindowTotals totals;
  totals.passes = 10;
  totals.threads = 2;
  Gauges gauges;
  kernel.report(totals, gauges);
  EXPECT_EQ(gauges["round_trips"], 10.0 * CoreToCoreKernel::trips_a_pass);
}

TEST(CoreToCore, PairIsTwoOfTheAllowedCpus) {
  const std::vector<int> allowed{2, 5, 9};
  CoreToCoreParameters p;
  EXPECT_EQ(p.threads, 2);
  EXPECT_EQ(choose_pair(p, allowed).value(), (std::vector{2, 9}));
  p.cpu_a = 5;
  EXPECT_EQ(choose_pair(p, allowed).value(), (std::vector{5, 9}));
  p.cpu_b = 3;
  EXPECT_NE(to_line(choose_pair(p, allowed).error()).find("allowed CPUs: 2, 5, 9"), std::string::npos);
  p.cpu_b = 5;
  EXPECT_FALSE(choose_pair(p, allowed));
  EXPECT_FALSE(check_core_to_core(p, "/p"));
}

TEST(CoreToCore, OneCpuIsNotEnough) {
  const auto pair = choose_pair({}, std::vector{4});
  ASSERT_FALSE(pair);
  EXPECT_NE(to_line(pair.error()).find("needs two CPUs"), std::string::npos);
}

}  // namespace ullage::core_to_core_test
