// SPDX-License-Identifier: Apache-2.0
#include "mpi/sleeping_barrier.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mpi/waits.hpp"

namespace ullage::mpi::sleeping_barrier_test {
namespace {

TEST(MpiPatientBarrier, WhoeverComesEarlyWaitsForTheLastOne) {
  const Comm world = Comm::world();
  const std::uint64_t before = Waiting::steps();
  const auto begun = std::chrono::steady_clock::now();
  world.barrier();
  if (world.rank() == world.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  sleeping_barrier(world);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(50));
  EXPECT_EQ(Waiting::steps(), before + 4) << "it is a wait, as a barrier is";
  EXPECT_FALSE(Waiting::now());
}

}  // namespace
}  // namespace ullage::mpi::sleeping_barrier_test
