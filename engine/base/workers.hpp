// SPDX-License-Identifier: Apache-2.0
// Threads of one owner, of which all start or none.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace ullage {

/// Used by one thread, and once: start() or prepare(), then what waits for the end.
class Workers final {
 public:
  /// What thread `thread` of them does, once. An exception that leaves it is its error.
  using Body = std::function<Status(std::size_t thread)>;
  /// Lets bodies that wait return soon. Called once at most, by a body that failed or by who ends them.
  using Dismiss = std::function<void()>;

  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// Dismisses them and waits until all have returned.
  ~Workers();

  /// `count` threads, which begin their bodies when all are there. EAGAIN of `start threads` where the system does not
  /// give one of them: then no body has begun, and no thread is left.
  [[nodiscard]] Status start(std::size_t count, Body body, Dismiss dismiss = nullptr);
  /// The same, but they wait for go(); those for which it never comes do nothing.
  [[nodiscard]] Status prepare(std::size_t count, Body body, Dismiss dismiss = nullptr);
  void go() { open(Gate::open); }

  [[nodiscard]] std::size_t size() const { return threads_.size(); }
  void dismiss();
  /// Returns whether all bodies have ended until `deadline_ns` of now_ns(); waits no longer than that.
  [[nodiscard]] bool ended_by(std::int64_t deadline_ns);
  /// Waits for all bodies, which have been let go; the first error of any.
  [[nodiscard]] Status join();

 private:
  enum class Gate : int { shut, open, given_up };

  void open(Gate way);
  void serve(std::size_t thread);

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
