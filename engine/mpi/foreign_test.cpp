// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <mpi.h>

#include "mpi/foreign.hpp"

namespace ullage::mpi {
namespace {

int size_of_comm(std::int64_t id, MPI_Comm comm, MPI_Info info) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return id == 7 && info == MPI_INFO_NULL ? size : -1;
}

TEST(MpiForeign, AFunctionOfAnotherLibraryGetsTheHandles) {
  const World world;
  const auto function = reinterpret_cast<void (*)()>(&size_of_comm);
  EXPECT_EQ(call_foreign(function, 7, world.all(), Info()), world.size());
  EXPECT_EQ(call_foreign(function, 7, world.self(), Info()), 1);
  EXPECT_EQ(call_foreign(function, 8, world.all(), Info()), -1);
}

}  // namespace
}  // namespace ullage::mpi
