// SPDX-License-Identifier: Apache-2.0
#include "mpi/host.hpp"

#include <gtest/gtest.h>

#include "base/stable_hash.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi::host_test {
namespace {

TEST(MpiHost, RanksOfOneMachineAgree) {
  const Comm world = Comm::world();
  EXPECT_FALSE(host_name().empty());
  EXPECT_EQ(world.broadcast(host_name(), 0), host_name());
  EXPECT_EQ(world.broadcast(kernel_identity(), 0), kernel_identity());
}

TEST(StableHash, IsFnv1aAndNotNegative) {
  static_assert(stable_hash("") == 0x4bf29ce484222324);  // published: cbf29ce484222325, folded
  static_assert(stable_hash("a") != stable_hash("b"));
  for (int i = 0; i < 1000; ++i) EXPECT_GE(stable_hash(std::to_string(i)), 0);
}

}  // namespace
}  // namespace ullage::mpi::host_test
