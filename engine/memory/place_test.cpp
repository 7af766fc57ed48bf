// SPDX-License-Identifier: Apache-2.0
#include "memory/place.hpp"

#include <gtest/gtest.h>

namespace ullage::memory_place_test {

TEST(MemoryPlace, WithoutANodeThreadsRunAnywhere) {
  WindowParameters window;
  EXPECT_TRUE(choose_node(window, {}));
  EXPECT_TRUE(window.cpus.empty());
}

TEST(MemoryPlace, ANodeGivesItsCpusThatMayBeUsed) {
  MemoryPlace place;
  place.cpu_node = 0;
  const auto here = cpus_of_node(0, allowed_cpus());
  if (!here) GTEST_SKIP() << to_line(here.error());
  WindowParameters window;
  ASSERT_TRUE(choose_node(window, place));
  EXPECT_EQ(window.cpus, *here);
}

TEST(MemoryPlace, ANodeThatIsNotThereIsAnError) {
  MemoryPlace place;
  place.cpu_node = 1000;
  WindowParameters window;
  EXPECT_FALSE(choose_node(window, place));
  EXPECT_TRUE(window.cpus.empty());
}

}  // namespace ullage::memory_place_test
