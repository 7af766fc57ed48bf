// SPDX-License-Identifier: Apache-2.0
#include "mpi/sleeping_barrier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ullage::mpi::sleeping_barrier_test {
namespace {

/// Whoever has lost its core comes later than the last one, and has nobody to wait for: one time of many is enough.
TEST(MpiPatientBarrier, WhoeverWaitsIsHeardFromUntilTheLastOneComes) {
  const Comm world = Comm::world();
  const bool late = world.rank() == world.size() - 1;
  int signs = 0;
  bool are_heard = false;
  for (int time = 0; time < 50 && !are_heard; ++time) {
    const auto begun = std::chrono::steady_clock::now();
    world.barrier();
    if (late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    sleeping_barrier(world, [&] { ++signs; });
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(50));
    are_heard = world.all(late || signs > 0);
  }
  EXPECT_TRUE(are_heard);
  sleeping_barrier(world, [] {});
}

}  // namespace
}  // namespace ullage::mpi::sleeping_barrier_test
