// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>

#include "storage/workloads/stepfile/revolve.hpp"

namespace ullage::step_order_property_test {

RC_GTEST_PROP(StepOrderProperty, EveryStepComesOnce, ()) {
  const auto steps = *rc::gen::inRange<std::uint64_t>(1, 2000);
  const auto stride = *rc::gen::inRange<std::uint64_t>(1, 3000);
  const auto kind = *rc::gen::element(StepOrderKind::forward, StepOrderKind::reverse, StepOrderKind::stride);
  const StepOrder order(kind, steps, stride);
  std::vector<int> visits(steps);
  for (std::uint64_t i = 0; i < steps; ++i) {
    RC_ASSERT(order(i) < steps);
    ++visits[order(i)];
  }
  for (const int count : visits) RC_ASSERT(count == 1);
}

RC_GTEST_PROP(StepOrderProperty, NeighboursAreAStrideApartButBetweenClasses, ()) {
  const auto stride = *rc::gen::inRange<std::uint64_t>(1, 50);
  const auto steps = *rc::gen::inRange<std::uint64_t>(stride, 2000);
  const StepOrder order(StepOrderKind::stride, steps, stride);
  std::uint64_t breaks = 0;
  for (std::uint64_t i = 0; i + 1 < steps; ++i) breaks += order(i + 1) == order(i) + stride ? 0U : 1U;
  RC_ASSERT(breaks == stride - 1);
}

}  // namespace ullage::step_order_property_test
