// SPDX-License-Identifier: Apache-2.0
#include "mpi/patient_barrier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ullage::mpi::patient_barrier_test {
namespace {

TEST(MpiPatientBarrier, WhoeverWaitsIsHeardFromUntilTheLastOneComes) {
  const Comm world = Comm::world();
  world.barrier();
  int signs = 0;
  const bool late = world.rank() == world.size() - 1;
  const auto begun = std::chrono::steady_clock::now();
  if (late) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  patient_barrier(world, [&] { ++signs; });
  if (!late) {
    EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(40));
    EXPECT_GT(signs, 0);
  }
  patient_barrier(world, [] {});
}

}  // namespace
}  // namespace ullage::mpi::patient_barrier_test
