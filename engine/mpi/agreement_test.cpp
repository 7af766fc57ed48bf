// SPDX-License-Identifier: Apache-2.0
#include "mpi/agreement.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "mpi/waits.hpp"

namespace ullage::agreement_test {

Status failing_on(bool here) { return here ? fail(errno_error(ENOSPC, "open", "/own")) : Status{}; }

TEST(MpiAgreement, IsEverywhereOrNotAndKeepsTheOwnOutcome) {
  const mpi::Comm all = mpi::Comm::world();
  EXPECT_TRUE(mpi::agree(all, {}).everywhere);
  const bool fails = all.rank() == all.size() - 1;
  const mpi::Agreement agreement = mpi::agree(all, failing_on(fails));
  EXPECT_FALSE(agreement.everywhere);
  EXPECT_EQ(agreement.own.has_value(), !fails);
  EXPECT_TRUE(mpi::all_succeeded(all, {}));
  EXPECT_FALSE(mpi::all_succeeded(all, failing_on(fails)));
}

TEST(MpiAgreement, SharedStatusIsTheOwnErrorOrThatOfTheLowestRankThatFailed) {
  const mpi::Comm all = mpi::Comm::world();
  EXPECT_TRUE(mpi::share_status(all, {}));
  const int lowest = all.size() / 2;
  const bool fails = all.rank() >= lowest;
  const Status shared = mpi::share_status(all, failing_on(fails));
  ASSERT_FALSE(shared);
  EXPECT_EQ(shared.error().kind, ErrorKind::io);
  EXPECT_EQ(shared.error().errno_value, ENOSPC);
  EXPECT_EQ(shared.error().operation, "open");
  EXPECT_EQ(shared.error().where, "/own");
  const std::string text = "No space left on device";
  EXPECT_EQ(shared.error().text, fails ? text : "rank " + std::to_string(lowest) + " failed: " + text);
}

/// Whatever a rank's allocation dies of, all ranks have it as an error and are together afterwards.
TEST(MpiAgreement, AnAllocationThatFailsOnOneRankIsAnErrorOfAll) {
  const mpi::Comm all = mpi::Comm::world();
  EXPECT_TRUE(mpi::agreed_allocation(all, [] {}));
  EXPECT_TRUE(mpi::agreed_allocation(all, []() -> Status { return {}; }));
  const int guilty = all.size() - 1;
  const auto of_one = [&](auto&& fails) {
    const Status shared = mpi::agreed_allocation(all, [&] {
      if (all.rank() == guilty) fails();
    });
    EXPECT_FALSE(shared);
    if (shared) return 0;
    EXPECT_EQ(shared.error().is_of_another_rank, all.rank() != guilty);
    EXPECT_EQ(shared.error().text.starts_with("rank " + std::to_string(guilty) + " failed: "), all.rank() != guilty);
    return shared.error().errno_value;
  };
  EXPECT_EQ(of_one([] { throw std::bad_alloc(); }), ENOMEM);
  EXPECT_EQ(of_one([] { throw std::length_error("long"); }), ENOMEM);
  EXPECT_EQ(of_one([] { throw std::system_error(EAGAIN, std::generic_category()); }), EAGAIN);
  EXPECT_EQ(of_one([] { throw ResourceError(errno_error(ENFILE, "open", "/x")); }), ENFILE);
  EXPECT_FALSE(mpi::agreed_allocation(all, [&] { return failing_on(all.rank() == guilty); }));
}

TEST(MpiAgreement, WhatHasNoOtherWayToTellItThrowsOnAllRanks) {
  const mpi::Comm all = mpi::Comm::world();
  mpi::allocate_or_throw(all, [] {});
  const int guilty = all.size() / 2;
  const Status caught = catch_resource_errors([&] -> Status {
    mpi::allocate_or_throw(all, [&] {
      if (all.rank() == guilty) throw std::bad_alloc();
    });
    return {};
  });
  ASSERT_FALSE(caught);
  EXPECT_EQ(caught.error().errno_value, ENOMEM);
  EXPECT_EQ(caught.error().is_of_another_rank, all.rank() != guilty);
}

TEST(MpiPatientBarrier, WhoeverComesEarlyWaitsForTheLastOne) {
  const mpi::Comm world = mpi::Comm::world();
  const std::uint64_t before = mpi::Waiting::steps();
  const auto begun = std::chrono::steady_clock::now();
  world.barrier();
  if (world.rank() == world.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  mpi::sleeping_barrier(world);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, std::chrono::milliseconds(50));
  EXPECT_EQ(mpi::Waiting::steps(), before + 4) << "it is a wait, as a barrier is";
  EXPECT_FALSE(mpi::Waiting::now());
}

}  // namespace ullage::agreement_test
