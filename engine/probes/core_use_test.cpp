// SPDX-License-Identifier: Apache-2.0
#include "probes/core_use.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <utility>

namespace ullage::core_use_test {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t milli_ns = 1'000'000;

/// 10 s on 4 cores: 40 s of core time, of which 20 s idle and 15 s ours.
CoreUse ten_seconds() {
  return {10 * second_ns, 4, 20 * second_ns, 0, 0, 15 * second_ns, 5 * second_ns, 10 * milli_ns};
}

Evidence evidence_of(const CoreUse& use) {
  Evidence evidence;
  evidence.shares = shares_of(use);
  return evidence;
}

TEST(CoreUse, WhatNobodyElseUsedIsForeign) {
  CoreUse use = ten_seconds();
  EXPECT_EQ(shares_of(use).foreign_ppm, 0);
  EXPECT_EQ(shares_of(use).kernel_ppm, 125'000);
  use.own_ns -= 4 * second_ns;
  EXPECT_EQ(shares_of(use).foreign_ppm, 100'000);
  use.interrupt_ns = second_ns;
  EXPECT_EQ(shares_of(use).foreign_ppm, 75'000);
  use.steal_ns = 2 * second_ns;
  EXPECT_EQ(shares_of(use).foreign_ppm, 25'000);
  EXPECT_EQ(shares_of(use).steal_ppm, 50'000);
  EXPECT_EQ(shares_of(use).uncertainty_ppm, 500);
}

TEST(CoreUse, GradesByForeignUseAndSteal) {
  CoreUse use = ten_seconds();
  EXPECT_EQ(grade_of(evidence_of(use)), 'A');
  EXPECT_TRUE(reasons_of(evidence_of(use)).empty());
  use.own_ns = 15 * second_ns - 379 * milli_ns;  // of 40 s, known to 20 ms: at most 0.9975 %
  EXPECT_EQ(grade_of(evidence_of(use)), 'A');
  use.own_ns = 15 * second_ns - 381 * milli_ns;
  EXPECT_EQ(grade_of(evidence_of(use)), 'B');
  use.own_ns = 15 * second_ns - 1979 * milli_ns;
  EXPECT_EQ(grade_of(evidence_of(use)), 'B');
  use.own_ns = 15 * second_ns - 1999 * milli_ns;
  EXPECT_EQ(grade_of(evidence_of(use)), '?');
  use.own_ns = 15 * second_ns - 2021 * milli_ns;
  EXPECT_EQ(grade_of(evidence_of(use)), 'C');
  use = ten_seconds();
  use.idle_ns -= 3 * second_ns;
  use.steal_ns = 3 * second_ns;
  EXPECT_EQ(grade_of(evidence_of(use)), 'C');
}

TEST(CoreUse, ShortPhasesAreGradedByWhatIsCertain) {
  CoreUse use{100 * milli_ns, 2, 90 * milli_ns, 0, 0,
              100 * milli_ns, 0, 10 * milli_ns};  // 10 of 200 ms: within two ticks
  EXPECT_EQ(shares_of(use).foreign_ppm, 50'000);
  EXPECT_EQ(shares_of(use).uncertainty_ppm, 100'000);
  EXPECT_EQ(grade_of(evidence_of(use)), '?');
  ASSERT_EQ(reasons_of(evidence_of(use)).size(), 1U);
  EXPECT_NE(reasons_of(evidence_of(use))[0].find("10.0 %"), std::string::npos);
  use.idle_ns = 100 * milli_ns;  // nothing foreign was seen, and up to a tenth may have been there
  EXPECT_EQ(grade_of(evidence_of(use)), '?');
  use.idle_ns = 40 * milli_ns;  // 60 ms foreign, 40 of them for certain
  EXPECT_EQ(shares_of(use).foreign_ppm, 300'000);
  EXPECT_EQ(grade_of(evidence_of(use)), 'C');
}

TEST(CoreUse, AnEmptyPhaseIsNotKnownToBeClean) {
  EXPECT_EQ(shares_of(CoreUse{}).uncertainty_ppm, 1'000'000);
  EXPECT_EQ(grade_of(evidence_of(CoreUse{})), '?');
}

TEST(CoreUse, WhatCannotBeReadIsNotKnownToBeClean) {
  Evidence evidence = evidence_of(ten_seconds());
  evidence.readable = false;
  EXPECT_EQ(grade_of(evidence), '?');
}

TEST(CoreUse, WaitingAndAChangedClockAreNoGradeA) {
  const auto graded = [](auto&& change) {
    Evidence evidence = evidence_of(ten_seconds());
    evidence.run_delay_ppm = 0;
    change(evidence);
    return std::pair{grade_of(evidence), reasons_of(evidence).size()};
  };
  using Grade = std::pair<char, std::size_t>;
  EXPECT_EQ(graded([](Evidence& one) { one.run_delay_ppm = 60'000; }), Grade('B', 1U));
  EXPECT_EQ(graded([](Evidence& one) { one.pressure_cpu_ppm = 60'000; }), Grade('B', 1U));
  EXPECT_EQ(graded([](Evidence& one) { one.pressure_memory_ppm = 60'000; }), Grade('B', 1U));
  EXPECT_EQ(graded([](Evidence& one) { one.clock_drift_ppm = 60'000; }), Grade('B', 1U));
  EXPECT_EQ(graded([](Evidence& one) { one.clock_drift_ppm = one.pressure_cpu_ppm = 40'000; }), Grade('A', 0U));
  // Ranks that share cores wait for each other.
  EXPECT_EQ(graded([](Evidence& one) {
              one.oversubscribed = true;
              one.run_delay_ppm = one.pressure_cpu_ppm = 600'000;
            }),
            Grade('A', 0U));
}

/// A phase of 10 s in which others had `foreign_ppm` of the cores, and kernel threads `kernel_ppm`.
Evidence waiting(std::int64_t run_delay_ppm, std::int64_t foreign_ppm, std::int64_t kernel_ppm = 0,
                 double cores_per_rank = 1, std::int64_t uncertainty_ppm = 1'000) {
  Evidence evidence;
  evidence.shares = {foreign_ppm, 0, kernel_ppm, uncertainty_ppm};
  evidence.run_delay_ppm = run_delay_ppm;
  evidence.cores_per_rank = cores_per_rank;
  return evidence;
}

TEST(CoreUse, RanksThatWaitedForOthersAreDirty) {
  EXPECT_EQ(grade_of(waiting(200'000, 500'000)), 'C');
  // One loop on one of 64 cores, on which a single rank worked.
  EXPECT_EQ(grade_of(waiting(500'000, 10'000, 0, 64)), 'C');
  // Others on cores for which nobody waited may still share memory with us.
  EXPECT_EQ(grade_of(waiting(1'000, 500'000, 0, 64)), 'B');
  EXPECT_EQ(grade_of(waiting(20'000, 500'000)), 'B');
}

TEST(CoreUse, AWaitIsKnownInPhasesThatAreShortForTheAccounts) {
  constexpr std::int64_t all_of_it = 5'000'000;
  EXPECT_EQ(grade_of(waiting(200'000, 0, 0, 1, all_of_it)), 'C');
  EXPECT_EQ(grade_of(waiting(200'000, -2'000'000, 0, 1, all_of_it)), 'C');
  // The hypervisor may have taken time that its own account does not tell yet.
  EXPECT_EQ(grade_of(waiting(0, 0, 0, 1, all_of_it)), '?');
}

TEST(CoreUse, AWaitThatOthersHadNoTimeToCauseIsNotTheirs) {
  EXPECT_EQ(grade_of(waiting(200'000, 2'000, 190'000)), 'B');          // write-back of our own data
  EXPECT_EQ(grade_of(waiting(200'000, 2'000)), 'B');                   // our own threads
  EXPECT_EQ(grade_of(waiting(200'000, 0, 190'000, 1, 400'000)), '?');  // either may be the cause
  EXPECT_EQ(grade_of(waiting(200'000, 500'000, 190'000)), 'C');        // most of it is theirs
  EXPECT_EQ(taken_by_others(waiting(200'000, 501'000, 500'000)).least_ppm, 100'000);
}

TEST(CoreUse, OfTwoGradesTheWorseIsTheOneThatPromisesLess) {
  EXPECT_EQ(worse_grade('A', 'B'), 'B');
  EXPECT_EQ(worse_grade('B', '?'), '?');
  EXPECT_EQ(worse_grade('?', 'A'), '?');
  EXPECT_EQ(worse_grade('C', '?'), 'C');
}

TEST(CoreUse, UnknownKernelThreadsCannotMakeAPhaseDirty) {
  CoreUse use = ten_seconds();
  use.kernel_ns = 0;
  Evidence evidence = evidence_of(use);
  EXPECT_EQ(grade_of(evidence), 'C');
  evidence.kernel_threads_known = false;
  EXPECT_EQ(grade_of(evidence), '?');
}

TEST(CoreUse, ReasonsNameTheNodeAndTheDrift) {
  CoreUse use = ten_seconds();
  use.own_ns = 0;
  Evidence evidence = evidence_of(use);
  evidence.worst_node = "n7";
  evidence.clock_drift_ppm = 150'000;
  const auto reasons = reasons_of(evidence);
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0], "other processes used 37.5 % of the cores on n7");
  EXPECT_NE(reasons[1].find("15.0 %"), std::string::npos);
}

TEST(CoreUse, WhatIsUsedAddsUpHoweverShortThePhase) {
  EXPECT_TRUE(rc::check([] {
    const auto time = [] { return *rc::gen::inRange<std::int64_t>(0, second_ns); };
    const CoreUse use{1 + time(), *rc::gen::inRange(1, 1024), time(), time(), time(), time(), time()};
    const CoreShares shares = shares_of(use);
    const double capacity = static_cast<double>(use.wall_ns) * use.cpus;
    const auto known = static_cast<double>(use.idle_ns + use.interrupt_ns + use.own_ns) / capacity * 1e6;
    const auto told = static_cast<double>(shares.foreign_ppm + shares.steal_ppm + shares.kernel_ppm);
    RC_ASSERT(std::abs(known + told - 1e6) <= 4.0 + 1e-9 * std::abs(told));
  }));
}

TEST(CoreUse, TheBoundsOfWhatWasTakenAreInOrder) {
  EXPECT_TRUE(rc::check([] {
    const auto share = [] { return *rc::gen::inRange<std::int64_t>(0, 2'000'000); };
    Evidence evidence = waiting(share(), share() - 1'000'000, share(), *rc::gen::inRange(1, 256), share());
    evidence.shares.steal_ppm = share();
    const Taken taken = taken_by_others(evidence);
    RC_ASSERT(taken.least_ppm <= taken.most_ppm);
    RC_ASSERT(taken.least_ppm >= 0);
  }));
}

}  // namespace ullage::core_use_test
