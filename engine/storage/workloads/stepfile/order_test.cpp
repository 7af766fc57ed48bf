// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/order.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ullage::step_order_test {
namespace {

std::vector<std::uint64_t> visited(StepOrderKind kind, std::uint64_t steps, std::uint64_t stride = 1) {
  const StepOrder order(kind, steps, stride);
  std::vector<std::uint64_t> all;
  for (std::uint64_t i = 0; i < steps; ++i) all.push_back(order(i));
  return all;
}

using Steps = std::vector<std::uint64_t>;

TEST(StepOrder, IsTheOneItIsCalled) {
  EXPECT_EQ(visited(StepOrderKind::forward, 4), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(visited(StepOrderKind::reverse, 4), (Steps{3, 2, 1, 0}));
  EXPECT_EQ(visited(StepOrderKind::stride, 7, 3), (Steps{0, 3, 6, 1, 4, 2, 5}));
  EXPECT_EQ(visited(StepOrderKind::stride, 4, 1), (Steps{0, 1, 2, 3}));
  EXPECT_EQ(visited(StepOrderKind::stride, 3, 10), (Steps{0, 1, 2})) << "a stride beyond the end";
}

}  // namespace
}  // namespace ullage::step_order_test
