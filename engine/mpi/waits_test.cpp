// SPDX-License-Identifier: Apache-2.0
#include "mpi/waits.hpp"

#include <gtest/gtest.h>

#include "mpi/comm.hpp"

namespace ullage::waits_test {

TEST(Waits, LastAsLongAsTheOutermost) {
  const std::uint64_t before = mpi::Waiting::steps();
  EXPECT_FALSE(mpi::Waiting::now());
  {
    const mpi::Waiting outer;
    EXPECT_TRUE(mpi::Waiting::now());
    {
      const mpi::Waiting inner;
    }
    EXPECT_TRUE(mpi::Waiting::now());
    EXPECT_EQ(mpi::Waiting::steps(), before + 1);
  }
  EXPECT_FALSE(mpi::Waiting::now());
  EXPECT_EQ(mpi::Waiting::steps(), before + 2);
}

/// Each kind of call that waits for others.
TEST(MpiWaits, CallsOfACommunicatorAreWaits) {
  const mpi::World world;
  const mpi::Comm& all = world.all();
  const auto expect_wait = [](const char* what, const auto& call) {
    const std::uint64_t before = mpi::Waiting::steps();
    call();
    EXPECT_GT(mpi::Waiting::steps(), before) << what;
    EXPECT_FALSE(mpi::Waiting::now()) << what;
  };
  expect_wait("barrier", [&] { all.barrier(); });
  expect_wait("broadcast", [&] { (void)all.broadcast(std::int64_t{1}, 0); });
  expect_wait("broadcast of a text", [&] { (void)all.broadcast(std::string("text"), 0); });
  expect_wait("any", [&] { (void)all.any(false); });
  expect_wait("sum", [&] { (void)all.sum(1); });
  expect_wait("sum before", [&] { (void)all.sum_before(1); });
  expect_wait("largest", [&] { (void)all.max_location(1); });
  expect_wait("split", [&] { (void)all.split(0, all.rank()); });
  expect_wait("duplicate", [&] { (void)all.duplicate(); });
  if (all.size() == 1) return;
  constexpr int tag = 7;
  if (all.rank() == 0) expect_wait("receive", [&] { (void)all.receive_text(1, tag); });
  if (all.rank() == 1) expect_wait("send", [&] { all.send("text", 0, tag); });
}

}  // namespace ullage::waits_test
