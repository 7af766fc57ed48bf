// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "storage/workloads/stepfile/revolve_test_support.hpp"

namespace ullage::revolve_property_test {

/// Does the actions on states that are their numbers, and refuses what cannot be done.
struct Replay {
  std::optional<std::uint64_t> current = 0;
  std::map<std::uint64_t, std::uint64_t> slots;
  std::uint64_t advanced = 0;
  std::uint64_t turned = 0;

  void take(const RevolveAction& action, std::uint64_t steps) {
    using Kind = RevolveAction::Kind;
    switch (action.kind) {
      case Kind::store:
        RC_ASSERT(current == action.step);
        slots[action.slot] = action.step;
        return;
      case Kind::restore:
        RC_ASSERT(slots.contains(action.slot));
        RC_ASSERT(slots[action.slot] == action.step);
        current = action.step;
        return;
      case Kind::advance:
        RC_ASSERT(current.has_value());
        RC_ASSERT(*current < action.step);
        advanced += action.step - *current;
        current = action.step;
        return;
      case Kind::turn:
        RC_ASSERT(current == action.step);
        RC_ASSERT(action.step == steps - 1 - turned);
        ++turned;
        current.reset();
    }
  }
};

RC_GTEST_PROP(RevolveProperty, TurnsEveryStepWithTheFewestAdvances, ()) {
  const auto steps = *rc::gen::inRange<std::uint64_t>(1, 700);
  const auto checkpoints = *rc::gen::inRange<std::uint64_t>(1, 40);
  Revolve revolve(steps, checkpoints);
  Replay replay;
  while (const auto action = revolve.next()) replay.take(*action, steps);
  RC_ASSERT(replay.turned == steps);
  RC_ASSERT(replay.slots.size() <= checkpoints);
  RC_ASSERT(replay.advanced == test::revolve_advances(steps, checkpoints));
}

}  // namespace ullage::revolve_property_test
