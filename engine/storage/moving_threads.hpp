// SPDX-License-Identifier: Apache-2.0
// Threads of one rank that move data of one file together, for backends whose calls return when the data is moved.
#pragma once

#include <atomic>
#include <barrier>
#include <functional>
#include <mutex>

#include "base/clock.hpp"
#include "base/meter.hpp"
#include "base/resources.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "base/workers.hpp"
#include "storage/backend.hpp"

namespace ullage {

/// Each takes the next extent when it is done with its last one, so what is moved begins in order. The caller is one of
/// the threads; the others sleep between batches and run where the rank may. Used by one thread.
class MovingThreads final {
 public:
  /// Moves one extent whole; called by several threads at once, each with its own number below size().
  using Move = std::function<Status(std::size_t thread, const Extent& extent)>;

  /// `count`: at least 1, the caller included.
  explicit MovingThreads(std::size_t count)
      : count_(count), begin_(static_cast<std::ptrdiff_t>(count)), ended_(static_cast<std::ptrdiff_t>(count)) {}

  /// Once, before the first run(). All threads, or none and the error.
  [[nodiscard]] Status start() {
    return others_.start(
        count_ - 1, [this](std::size_t other) { return serve(other + 1); },
        [this] {
          leaves_ = true;
          begin_.arrive_and_wait();
        });
  }

  /// Extents that are so many apart share their memory: of a run() of more than that, each thread uses that of one
  /// extent for all it moves. At least as many as there are threads; 0: none do.
  void share_memory(std::size_t window) { window_ = window; }

  /// Does as File::transfer(); an operation's time is that of its own call.
  [[nodiscard]] Status run(std::span<const Extent> extents, Meter& meter, const Move& move) {
    extents_ = extents;
    move_ = &move;
    meter_ = &meter;
    next_ = 0;
    goes_on_ = true;
    failure_.reset();
    begin_.arrive_and_wait();
    work(0);
    ended_.arrive_and_wait();
    return failure_ ? fail(*failure_) : Status{};
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  [[nodiscard]] Status serve(std::size_t thread) {
    while (true) {
      begin_.arrive_and_wait();
      if (leaves_) return {};
      work(thread);
      ended_.arrive_and_wait();
    }
  }

  void work(std::size_t thread) {
    std::byte* const own = window_ > 0 && extents_.size() > window_ ? extents_[thread].data : nullptr;
    while (goes_on_.load(std::memory_order_relaxed)) {
      const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
      if (i >= extents_.size()) return;
      Extent extent = extents_[i];
      if (own != nullptr) extent.data = own;
      const std::int64_t begun_ns = now_ns();
      const Status moved = catch_resource_errors([&] { return (*move_)(thread, extent); });
      const std::scoped_lock lock(account_);
      if (!moved && !failure_) failure_ = moved.error();
      if (!moved || !meter_->completed_since(begun_ns, extent.length_bytes)) goes_on_ = false;
    }
  }

  const std::size_t count_;
  std::barrier<> begin_;
  std::barrier<> ended_;

  // The caller writes these before all threads pass begin_, and between begin_ and ended_ they are only read.
  bool leaves_ = false;
  std::span<const Extent> extents_;
  std::size_t window_ = 0;
  const Move* move_ = nullptr;
  Meter* meter_ = nullptr;

  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> goes_on_ = true;

  // Between begin_ and ended_, what meter_ points to and failure_ are guarded by account_; outside they are the
  // caller's.
  std::mutex account_;
  std::optional<Error> failure_;
  Workers others_;  // last: they use the rest
};

/// The threads of a backend whose rank moves the data of a file by as many of them as a phase wants.
class FileThreads final {
 public:
  /// Is for Backend::make_ready().
  [[nodiscard]] Status make_ready(const Concurrency& wanted) {
    const auto count = static_cast<std::size_t>(wanted.threads);
    if (threads_ && threads_->size() != count) threads_.reset();
    if (count == 1) return {};
    if (!threads_) {
      auto made = std::make_unique<MovingThreads>(count);
      if (Status started = made->start(); !started) return started;
      threads_ = std::move(made);
    }
    threads_->share_memory(wanted.window);
    return {};
  }

  /// Null where the rank moves its data alone.
  [[nodiscard]] MovingThreads* threads() const { return threads_.get(); }

 private:
  std::unique_ptr<MovingThreads> threads_;
};

}  // namespace ullage
