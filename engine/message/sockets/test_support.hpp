// SPDX-License-Identifier: Apache-2.0
// What the tests of message/sockets share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "message/sockets/socket.hpp"
#include "message/sockets/task_threads.hpp"

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
  explicit TaskRun(std::unique_ptr<StreamTask> task) { tasks_.push_back(std::move(task)); }
  void start() { threads_ = std::make_unique<TaskThreads>(tasks_, stage_); }
  void set(Stage stage) { stage_.set(stage); }
  void wake() { threads_->wake(); }
  [[nodiscard]] std::uint64_t bytes() const { return tasks_.front()->tally().bytes(); }
  [[nodiscard]] Status join() { return threads_->join(soon_ns()); }
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const {
    std::map<std::string, std::uint64_t> counted;
    tasks_.front()->count(counted);
    return counted;
  }
  [[nodiscard]] StreamTask& task() { return *tasks_.front(); }

 private:
  std::vector<std::unique_ptr<StreamTask>> tasks_;
  StageSign stage_;
  std::unique_ptr<TaskThreads> threads_;
};

}  // namespace ullage::test
