// SPDX-License-Identifier: Apache-2.0
#include "base/affinity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <thread>

namespace ullage::affinity_test {

using Cpus = std::vector<int>;

TEST(Affinity, SiblingsComeAfterAllCores) {
  const CoreOf neighbours = [](int cpu) { return std::to_string(cpu / 2); };
  EXPECT_EQ(cores_first(std::array{0, 1, 2, 3, 4, 5}, neighbours), (Cpus{0, 2, 4, 1, 3, 5}));
  const CoreOf halves = [](int cpu) { return std::to_string(cpu % 3); };
  EXPECT_EQ(cores_first(std::array{0, 1, 2, 3, 4, 5}, halves), (Cpus{0, 1, 2, 3, 4, 5}));
  const CoreOf of_four = [](int cpu) { return std::to_string(cpu / 4); };
  EXPECT_EQ(cores_first(std::array{1, 2, 3, 4, 7}, of_four), (Cpus{1, 4, 2, 7, 3}));
}

TEST(Affinity, WhereNobodySaysEachIsACore) {
  const CoreOf unknown = [](int) { return std::string(); };
  EXPECT_EQ(cores_first(std::array{5, 1, 3}, unknown), (Cpus{5, 1, 3}));
  EXPECT_TRUE(cores_first({}, unknown).empty());
}

TEST(Affinity, ChosenCpusGoRound) {
  const std::array<int, 3> cpus{4, 6, 9};
  EXPECT_EQ(choose_cpus(cpus, 0, 2), (Cpus{4, 6}));
  EXPECT_EQ(choose_cpus(cpus, 2, 3), (Cpus{9, 4, 6}));
}

TEST(Affinity, ThreadsMayRunOnTheirOwnCpusAndBePinnedToOne) {
  Cpus allowed = allowed_cpus();
  ASSERT_FALSE(allowed.empty());
  const int last = allowed.back();
  std::thread([last] {
    ASSERT_TRUE(pin_to(last));
    EXPECT_EQ(own_cpus(), Cpus{last});
  }).join();
  std::ranges::sort(allowed);
  EXPECT_EQ(allowed, own_cpus()) << "pinning another thread leaves this one as it was";
  EXPECT_FALSE(pin_to(100'000));
}

TEST(Affinity, ACpuThatIsNotThereHasNoCore) { EXPECT_EQ(core_of(100'000), ""); }

/// Four cores of two CPUs each: n and n + 4.
std::string core_of_eight(int cpu) { return "core" + std::to_string(cpu % 4); }

TEST(Affinity, SpareCpusAreThoseOfCoresThatNobodyUses) {
  const std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(spare_cpus(all, std::vector{0, 1}, core_of_eight), (std::vector{2, 3, 6, 7}));
  EXPECT_EQ(spare_cpus(all, std::vector{0, 1, 2, 3}, core_of_eight), (std::vector{4, 5, 6, 7}))
      << "beside a used one where no core is free";
  EXPECT_EQ(spare_cpus(all, all, core_of_eight), std::vector<int>{});
  EXPECT_EQ(spare_cpus(all, {}, core_of_eight), all);
  const auto unknown = [](int) { return std::string(); };
  EXPECT_EQ(spare_cpus(all, std::vector{0, 7}, unknown), (std::vector{1, 2, 3, 4, 5, 6}));
}

}  // namespace ullage::affinity_test
