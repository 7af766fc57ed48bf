// SPDX-License-Identifier: Apache-2.0
#include "mpi/agreement.hpp"

#include <gtest/gtest.h>

#include <cerrno>

namespace ullage::agreement_test {
namespace {

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

}  // namespace
}  // namespace ullage::agreement_test
