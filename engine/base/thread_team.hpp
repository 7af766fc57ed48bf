// SPDX-License-Identifier: Apache-2.0
// Threads of one rank that begin together, each on a core of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/affinity.hpp"
#include "base/clock.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "base/workers.hpp"

namespace ullage {

/// So often a thread looks for the others before it lets somebody else have its core.
inline constexpr int looks_before_yield = 2000;

/// A thread for each of `cpus`, pinned to it where the system lets it. Between tasks they sleep. Used by one thread.
class ThreadTeam final {
 public:
  /// When one thread worked on a task.
  struct Span {
    std::int64_t start_ns = 0;
    std::int64_t stop_ns = 0;
  };
  /// `body(thread)` is timed; `around(thread)`, where given, comes right before and right after it and is not.
  struct Task {
    std::function<void(std::size_t)> body;
    std::function<void(std::size_t)> around;
  };

  explicit ThreadTeam(std::vector<int> cpus) : cpus_(std::move(cpus)), spans_(cpus_.size()) {}

  /// Once, before the first task. All threads, or none and the error.
  [[nodiscard]] Status start() {
    return workers_.start(
        cpus_.size(), [this](std::size_t thread) { return serve(thread); },
        [this] {
          const std::scoped_lock lock(mutex_);
          leaves_ = true;
          begin_.notify_all();
        });
  }

  /// Runs the task on all threads, which begin its body together, and returns when the last has ended. The spans are in
  /// the order of `cpus`.
  std::span<const Span> run(const Task& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    busy_ = spans_.size();
    ++turn_;
    begin_.notify_all();
    ended_.wait(lock, [this] { return busy_ == 0; });
    return spans_;
  }

  /// Between tasks: the first exception that left a part of any, as an error.
  [[nodiscard]] const Status& status() const { return status_; }

  [[nodiscard]] std::size_t size() const { return spans_.size(); }
  /// Threads the system did not let us pin.
  [[nodiscard]] std::size_t unpinned() const { return unpinned_.load(); }

 private:
  [[nodiscard]] Status serve(std::size_t thread) {
    if (!pin_to(cpus_[thread])) ++unpinned_;
    for (std::uint64_t turn = 1;; ++turn) {
      {
        std::unique_lock lock(mutex_);
        begin_.wait(lock, [&] { return leaves_ || turn_ == turn; });
        if (leaves_) return {};
      }
      Status done = call(task_->around, thread);
      meet(turn);
      spans_[thread].start_ns = now_ns();
      const Status worked = call(task_->body, thread);
      spans_[thread].stop_ns = now_ns();
      if (done) done = worked;
      if (Status after = call(task_->around, thread); done) done = std::move(after);
      const std::scoped_lock lock(mutex_);
      if (!done && status_) status_ = std::move(done);
      if (--busy_ == 0) ended_.notify_one();
    }
  }

  /// The others wait for this thread whatever happens to it.
  [[nodiscard]] static Status call(const std::function<void(std::size_t)>& part, std::size_t thread) {
    return catch_resource_errors([&] -> Status {
      if (part) part(thread);
      return {};
    });
  }

  /// Waits awake, since being woken takes longer than the threads may be apart.
  void meet(std::uint64_t turn) {
    ++arrived_;
    for (int looks = 0; arrived_.load(std::memory_order_acquire) < turn * spans_.size(); ++looks)
      if (looks >= looks_before_yield) std::this_thread::yield();
  }

  const std::vector<int> cpus_;
  std::mutex mutex_;
  std::condition_variable begin_;
  std::condition_variable ended_;
  std::uint64_t turn_ = 0;  // guarded by mutex_, as are the next three
  std::size_t busy_ = 0;
  bool leaves_ = false;
  Status status_;

  // Written by run() under mutex_ before it begins a turn, and only read by the threads until busy_ is 0 again.
  const Task* task_ = nullptr;
  // Each thread writes its own element during a turn, and run() reads all of them when busy_ is 0, under mutex_.
  std::vector<Span> spans_;

  std::atomic<std::uint64_t> arrived_ = 0;
  std::atomic<std::size_t> unpinned_ = 0;
  Workers workers_;  // last: they use the others
};

}  // namespace ullage
