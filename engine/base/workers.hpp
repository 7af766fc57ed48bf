// SPDX-License-Identifier: Apache-2.0
// Threads of one owner, of which all start or none.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "base/pinned.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

/// Used by one thread, and once: start() or prepare(), then what waits for the end.
class Workers final : Pinned {
 public:
  /// What thread `thread` of them does, once. An exception that leaves it is its error.
  using Body = std::function<Status(std::size_t thread)>;
  /// Lets bodies that wait return soon. Called once at most, by a body that failed or by who ends them.
  using Dismiss = std::function<void()>;

  Workers() = default;

  /// Dismisses them and waits until all have returned.
  ~Workers() {
    open(Gate::given_up);
    dismiss();
  }

  /// `count` threads, which begin their bodies when all are there. EAGAIN of `start threads` where the system does not
  /// give one of them: then no body has begun, and no thread is left.
  [[nodiscard]] Status start(std::size_t count, Body body, Dismiss dismiss = nullptr) {
    Status made = prepare(count, std::move(body), std::move(dismiss));
    if (made) go();
    return made;
  }

  /// The same, but they wait for go(); those for which it never comes do nothing.
  [[nodiscard]] Status prepare(std::size_t count, Body body, Dismiss dismiss = nullptr) {
    body_ = std::move(body);
    dismiss_ = std::move(dismiss);
    running_ = count;
    Status made = catch_resource_errors([&] -> Status {
      threads_.reserve(count);
      while (threads_.size() < count) threads_.emplace_back([this, thread = threads_.size()] { serve(thread); });
      return {};
    });
    if (made) return made;
    open(Gate::given_up);
    threads_.clear();
    return made;
  }

  void go() { open(Gate::open); }

  [[nodiscard]] std::size_t size() const { return threads_.size(); }

  void dismiss() {
    if (!dismissed_.exchange(true) && dismiss_) dismiss_();
  }

  /// Returns whether all bodies have ended until `deadline_ns` of now_ns(); waits no longer than that.
  [[nodiscard]] bool ended_by(std::int64_t deadline_ns) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::nanoseconds(deadline_ns - now_ns()), [this] { return running_ == 0; });
  }

  /// Waits for all bodies, which have been let go; the first error of any.
  [[nodiscard]] Status join() {
    threads_.clear();
    dismissed_ = true;
    return first_;
  }

 private:
  enum class Gate : int { shut, open, given_up };

  /// The first call decides.
  void open(Gate way) {
    if (gate_ != Gate::shut) return;
    dismissed_ = way == Gate::given_up;
    gate_ = way;
    gate_.notify_all();
  }

  void serve(std::size_t thread) {
    gate_.wait(Gate::shut);
    Status done;
    if (gate_ == Gate::open) done = catch_resource_errors([&] { return body_(thread); });
    const bool failed = !done;
    {
      const std::scoped_lock lock(mutex_);
      if (failed && first_) first_ = std::move(done);
      if (--running_ == 0) ended_.notify_all();
    }
    if (failed) dismiss();
  }

  Body body_;
  Dismiss dismiss_;
  std::atomic<Gate> gate_ = Gate::shut;
  std::atomic<bool> dismissed_ = true;  // or there is nobody to dismiss
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;            // guarded by mutex_, as is the next
  Status first_;                       // error
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace ullage
