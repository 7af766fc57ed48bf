// SPDX-License-Identifier: Apache-2.0
// Workload `sockets` as a plan has it.
#include <gtest/gtest.h>

#include "base/test_support.hpp"
#include "message/sockets/sockets.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::sockets_test {

TEST(MpiSocketsWorkload, RunsAsALaunchMakesIt) {
  Json record;
  const Values given{{"seconds", 0.01}, {"warm_up_s", 0.0}, {"block_bytes", 1000}};
  ASSERT_EQ(test::run_workload("sockets", given, record), PhaseStatus::ok) << record.dump();
  if (const mpi::World world; world.root()) {
    EXPECT_EQ(record["phase"], "sockets");
  }
}

TEST(SocketsWorkload, IsRefusedForOneRankAndForWhatDoesNotGoTogether) {
  EXPECT_FALSE(test::Launch::entry("sockets").works_on_storage());
  const Values echoes{{"protocol", "icmp"}};
  EXPECT_NE(test::Launch::refusal("sockets", echoes, 1).find("two ranks"), std::string::npos);
  EXPECT_NE(test::Launch::refusal("sockets", echoes, 2).find("/p/mode"), std::string::npos);
}

class MpiSockets : public test::MpiLaunch {
 protected:
  MpiSockets() {
    context_.run_key = 77;
    p_.seconds = 0.02;
    p_.warm_up_s = 0.005;
    p_.block_bytes = 4096;
  }
  PhaseStatus run() {
    SocketsPhase phase(p_, context_);
    return run_phase(phase).status;
  }
  /// Runs it until a window was used: a thread that waits for its core may miss all of one.
  template <class Used>
  PhaseStatus run_until(const Used& used) {
    PhaseStatus status = PhaseStatus::ok;
    bool is_used = false;
    for (int time = 0; time < 20 && status == PhaseStatus::ok && !is_used; ++time) {
      status = run();
      is_used = world_.all().all(status != PhaseStatus::ok || !looks() || used());
    }
    return status;
  }
  [[nodiscard]] double sum(const std::string& name) const { return gauge(name, "sum"); }
  [[nodiscard]] std::uint64_t counted(const std::string& name) const {
    return record_["counters"][name].get<std::uint64_t>();
  }
  [[nodiscard]] int pairs() const { return world_.size() / 2; }
  /// Returns whether there is something to look at.
  [[nodiscard]] bool looks() const { return world_.root() && pairs() > 0; }

  SocketsParameters p_;
};

TEST_F(MpiSockets, TcpBytesThatWereSentAllArrive) {
  for (const SocketDirection direction : {SocketDirection::forward, SocketDirection::both}) {
    p_.direction = direction;
    p_.streams = 2;
    p_.seconds = 0.1;
    const auto used = [&] { return sum("goodput_bytes_per_s") > 0 && record_["verified_bytes"] > 0; };
    ASSERT_EQ(run_until(used), PhaseStatus::ok) << record_.dump();
    if (!looks()) continue;
    EXPECT_EQ(counted("sent_bytes"), counted("received_bytes"));
    EXPECT_EQ(counted("bad_pieces"), 0U);
    EXPECT_GT(record_["verified_bytes"], 0);
    EXPECT_EQ(sum("pairs"), pairs());
    EXPECT_GE(record_["gauges"]["window_s"]["most"], 0.1);
    EXPECT_GT(sum("goodput_bytes_per_s"), 0);
    EXPECT_EQ(record_["bytes"], record_["operations"].get<std::uint64_t>() * 4096);
    EXPECT_TRUE(record_["latency"].is_null());
    EXPECT_EQ(record_["facts"]["between"], "ranks of one node");
    EXPECT_EQ(record_["facts"]["mine"]["address"], "127.0.0.1");
    EXPECT_NE(record_["facts"]["congestion_control"], "");
  }
}

/// On one end of a pair alone: the other does not wait for it.
TEST_F(MpiSockets, AThreadOfOneRankThatDoesNotStartFailsThePhaseForAll) {
  p_.streams = 3;
  if (pairs() == 0) return;
  {
    std::optional<test::FewThreads> few;
    if (world_.rank() == 1) few.emplace(2);
    EXPECT_EQ(run(), PhaseStatus::failed);
    if (world_.root()) {
      ASSERT_EQ(record_["failures"].size(), 1U) << record_.dump(1);
      EXPECT_EQ(record_["failures"][0]["rank"], 1);
      EXPECT_EQ(record_["failures"][0]["path"], "threads");
      EXPECT_EQ(record_["failures"][0]["errno"], EAGAIN);
    }
  }
  EXPECT_EQ(run(), PhaseStatus::ok);
}

TEST_F(MpiSockets, UdpCountsWhatArrivesAndWhatDoesNot) {
  p_.protocol = SocketProtocol::udp;
  p_.streams = 2;
  ASSERT_EQ(run_until([&] { return counted("received_bytes") > 0; }), PhaseStatus::ok) << record_.dump();
  if (!looks()) return;
  EXPECT_GT(counted("received_bytes"), 0U);
  EXPECT_LE(counted("received_bytes"), counted("sent_bytes"));
  EXPECT_LE(counted("lost"), counted("expected"));
  EXPECT_EQ(counted("duplicates"), 0U);
  EXPECT_TRUE(record_["facts"].contains("datagrams_by"));
}

TEST_F(MpiSockets, RequestsHaveALatencyEach) {
  p_.mode = SocketMode::request;
  p_.block_bytes = 1;
  for (const SocketProtocol protocol : {SocketProtocol::tcp, SocketProtocol::udp}) {
    p_.protocol = protocol;
    ASSERT_EQ(run_until([&] { return counted("round_trips") > 0; }), PhaseStatus::ok) << record_.dump();
    if (!looks()) continue;
    EXPECT_EQ(record_["operations"], counted("round_trips"));
    EXPECT_EQ(record_["latency"]["operations"], counted("round_trips"));
    EXPECT_GT(counted("round_trips"), 0U);
    EXPECT_GT(sum("messages_per_s"), 0);
    EXPECT_GE(sum("cpu_cores"), sum("first_cpu_cores"));
  }
}

TEST_F(MpiSockets, EchoesAreAnsweredOrNotAvailable) {
  p_.mode = SocketMode::request;
  p_.protocol = SocketProtocol::icmp;
  p_.block_bytes = 56;
  const auto used = [&] { return record_["facts"].contains("unavailable") || counted("round_trips") > 0; };
  ASSERT_EQ(run_until(used), PhaseStatus::ok) << record_.dump();
  if (!looks()) return;
  if (record_["facts"].contains("unavailable"))
    EXPECT_TRUE(record_["facts"]["unavailable"].get<std::string>().starts_with("not available: "));
  else
    EXPECT_GT(counted("round_trips"), 0U);
}

TEST_F(MpiSockets, AnInterfaceThatIsNotThereFailsThePhaseWithALine) {
  if (pairs() == 0) return;
  p_.interface = "no-such-if";
  EXPECT_EQ(run(), PhaseStatus::failed);
  if (!world_.root()) return;
  EXPECT_NE(record_["failures"].dump().find("no-such-if"), std::string::npos);
}

TEST_F(MpiSockets, LocalBytesAndAnswersByPipesAllArrive) {
  p_.protocol = SocketProtocol::local;
  p_.streams = 2;
  p_.seconds = 0.1;
  for (const SocketDirection direction : {SocketDirection::forward, SocketDirection::both}) {
    p_.direction = direction;
    ASSERT_EQ(run_until([&] { return sum("goodput_bytes_per_s") > 0; }), PhaseStatus::ok) << record_.dump();
    if (!looks()) continue;
    EXPECT_EQ(record_["phase"], "local");
    EXPECT_EQ(counted("sent_bytes"), counted("received_bytes"));
    EXPECT_EQ(counted("bad_pieces"), 0U);
    EXPECT_GT(record_["verified_bytes"], 0);
  }
  p_.direction = SocketDirection::forward;
  p_.mode = SocketMode::request;
  for (const SocketProtocol protocol : {SocketProtocol::local, SocketProtocol::pipe})
    for (const std::uint64_t bytes : {1, 5000}) {
      p_.protocol = protocol;
      p_.block_bytes = bytes;
      ASSERT_EQ(run_until([&] { return counted("round_trips") > 0; }), PhaseStatus::ok) << record_.dump();
      if (!looks()) continue;
      EXPECT_EQ(record_["phase"], "local");
      EXPECT_GT(counted("round_trips"), 0U);
      EXPECT_GT(record_["latency"]["min_ns"], 0);
    }
}

TEST(SocketsWorkload, WhatStaysOnANodeHasNoSettingsOfANetwork) {
  const auto refusal = [](Values more) {
    more.try_emplace("protocol", "pipe");
    return test::Launch::refusal("sockets", more, 2);
  };
  EXPECT_NE(refusal({}).find("/p/mode"), std::string::npos);
  EXPECT_EQ(refusal({{"mode", "request"}}), "");
  EXPECT_NE(refusal({{"mode", "request"}, {"spin", true}}).find("/p/spin"), std::string::npos);
  EXPECT_NE(refusal({{"mode", "request"}, {"send_buffer_bytes", 4096}}).find("/p/send_buffer"), std::string::npos);
  EXPECT_NE(refusal({{"protocol", "unix"}, {"interface", "lo"}}).find("/p/interface"), std::string::npos);
  EXPECT_EQ(refusal({{"protocol", "unix"}, {"block_bytes", 1 << 20}}), "");
}

}  // namespace ullage::sockets_test
