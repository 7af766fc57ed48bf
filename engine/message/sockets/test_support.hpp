// SPDX-License-Identifier: Apache-2.0
// What the tests of message/sockets share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "base/workers.hpp"
#include "message/sockets/socket.hpp"
#include "message/sockets/stream_task.hpp"

namespace ullage::test {

inline std::int64_t soon_ns() { return now_ns() + 60'000'000'000; }

/// Two ends over the loopback, in one process.
struct SocketPair {
  Socket one;
  Socket other;
};

inline SocketPair tcp_pair(const SocketsParameters& parameters = {}) {
  const Socket listening = listening_socket("127.0.0.1", 1).value();
  SocketPair made;
  made.one = connected_socket("127.0.0.1", "127.0.0.1", listening.port().value(), parameters).value();
  made.other = accept_until(listening, soon_ns()).value();
  return made;
}

inline SocketPair udp_pair() {
  SocketPair made{datagram_socket("127.0.0.1").value(), datagram_socket("127.0.0.1").value()};
  EXPECT_TRUE(connect_datagrams(made.one, "127.0.0.1", made.other.port().value()));
  EXPECT_TRUE(connect_datagrams(made.other, "127.0.0.1", made.one.port().value()));
  return made;
}

/// Waits until `met`, or for as long as a test has patience.
inline void wait_until(const std::function<bool()>& met) {
  const std::int64_t until = soon_ns();
  while (!met() && now_ns() < until) std::this_thread::yield();
  EXPECT_TRUE(met());
}

/// A task on a thread of its own.
class TaskRun final {
 public:
  explicit TaskRun(std::unique_ptr<StreamTask> task) : task_(std::move(task)) {}
  void start() {
    EXPECT_TRUE(thread_.start(1, [this](std::size_t) { return task_->run(stage_); }, [this] { task_->wake(); }));
  }
  void set(Stage stage) { stage_.set(stage); }
  void wake() { thread_.dismiss(); }
  [[nodiscard]] std::uint64_t bytes() const { return task_->tally().bytes(); }
  [[nodiscard]] Status join() { return thread_.ended_by(soon_ns()) ? thread_.join() : fail(unsupported("end", "")); }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const {
    std::map<std::string, std::uint64_t> counted;
    task_->count(counted);
    return counted;
  }
  [[nodiscard]] StreamTask& task() { return *task_; }

 private:
  std::unique_ptr<StreamTask> task_;
  StageSign stage_;
  Workers thread_;  // last: it uses the others
};

}  // namespace ullage::test
