// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/load.hpp"

#include <gtest/gtest.h>

#include "base/signals.hpp"

namespace ullage::congestion_load_test {

constexpr std::size_t message_bytes = 100;
constexpr std::uint64_t loops = 8;  // of a round

/// Runs until the first rank reads the stop that it has sent itself; it tells itself, too, that the load has begun.
std::uint64_t sent_bytes_a_loop(LoadKind kind, const mpi::Comm& comm) {
  mpi::Mailbox mailbox(comm);
  Meter meter(StopFlags::instance().now());
  mpi::Mailbox relay(comm);
  CongestionLoad load(comm, mailbox, relay, kind, message_bytes);
  if (comm.rank() == 0) mailbox.post(0, congestion_stop, {});
  load.run_until_stopped(0, meter);
  if (comm.rank() == 0)
    while (!mailbox.look()) {
    }
  EXPECT_GE(load.rounds(), 1U);
  EXPECT_EQ(meter.progress(), load.rounds());
  EXPECT_EQ(load.sent_bytes() % (load.rounds() * loops), 0U);
  return load.sent_bytes() / (load.rounds() * loops);
}

TEST(MpiCongestionLoad, InAnIncastAllButTheFirstSend) {
  const mpi::Comm comm = mpi::Comm::world();
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(sent_bytes_a_loop(LoadKind::incast, comm), comm.rank() == 0 ? 0 : 4 * message_bytes);
}

TEST(MpiCongestionLoad, InAnAlltoallEachSendsToEachOther) {
  const mpi::Comm comm = mpi::Comm::world();
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  EXPECT_EQ(sent_bytes_a_loop(LoadKind::alltoall, comm), static_cast<std::size_t>(comm.size() - 1) * message_bytes);
}

TEST(MpiCongestionLoad, WhoRestsLearnsOfTheStopThatTheFirstHasGot) {
  const mpi::Comm comm = mpi::Comm::world();
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  mpi::Mailbox mailbox(comm);
  Meter meter(StopFlags::instance().now());
  mpi::Mailbox relay(comm);
  CongestionLoad load(comm, mailbox, relay, LoadKind::incast, message_bytes);
  if (comm.rank() == comm.size() - 1) mailbox.post(0, congestion_stop, {});
  load.rest_until_stopped(meter);
  EXPECT_EQ(load.sent_bytes(), 0U);
}

}  // namespace ullage::congestion_load_test
