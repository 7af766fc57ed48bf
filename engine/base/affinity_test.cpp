// SPDX-License-Identifier: Apache-2.0
#include "base/cpu_order.hpp"

#include <gtest/gtest.h>

#include <array>

namespace ullage::cpu_order_test {
namespace {

using Cpus = std::vector<int>;

TEST(CpuOrder, SiblingsComeAfterAllCores) {
  const CoreOf neighbours = [](int cpu) { return std::to_string(cpu / 2); };
  EXPECT_EQ(cores_first(std::array{0, 1, 2, 3, 4, 5}, neighbours), (Cpus{0, 2, 4, 1, 3, 5}));
  const CoreOf halves = [](int cpu) { return std::to_string(cpu % 3); };
  EXPECT_EQ(cores_first(std::array{0, 1, 2, 3, 4, 5}, halves), (Cpus{0, 1, 2, 3, 4, 5}));
  const CoreOf of_four = [](int cpu) { return std::to_string(cpu / 4); };
  EXPECT_EQ(cores_first(std::array{1, 2, 3, 4, 7}, of_four), (Cpus{1, 4, 2, 7, 3}));
}

TEST(CpuOrder, WhereNobodySaysEachIsACore) {
  const CoreOf unknown = [](int) { return std::string(); };
  EXPECT_EQ(cores_first(std::array{5, 1, 3}, unknown), (Cpus{5, 1, 3}));
  EXPECT_TRUE(cores_first({}, unknown).empty());
}

TEST(CpuOrder, ACpuThatIsNotThereHasNoCore) { EXPECT_EQ(core_of(100'000), ""); }

}  // namespace
}  // namespace ullage::cpu_order_test
