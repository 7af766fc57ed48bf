// SPDX-License-Identifier: Apache-2.0
// Threads that do jobs for another thread while it does something else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace ullage {

/// A ring of slots, each for one job that is under way. Jobs are begun in the order they were handed over. Used by one
/// thread; the job of a slot and what it points to are a helper's from submit() until wait() has returned. `Done` is
/// what a job returns; each helper has a default `Own`.
template <class Done, class Own>
class HelperThreads final {
 public:
  using Outcome = Done;
  /// Does operation `operation`; called by several threads at once, each with what it owns.
  using Job = std::function<Outcome(std::uint64_t operation, Own& own)>;

  HelperThreads(std::size_t threads, std::size_t slots, Job job)
      : job_(std::move(job)), places_(slots, Place::idle), outcomes_(slots) {
    for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
  }
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;
  /// Begins no further job and waits for those that were begun.
  ~HelperThreads() {
    const std::scoped_lock lock(mutex_);
    leaves_ = true;
    handed_over_.notify_all();
  }

  [[nodiscard]] std::size_t slots() const { return outcomes_.size(); }

  /// The operation's slot, `operation` modulo slots(), must be idle.
  void submit(std::uint64_t operation) {
    const std::scoped_lock lock(mutex_);
    places_[operation % places_.size()] = Place::under_way;
    waiting_.push_back(operation);
    handed_over_.notify_one();
  }

  /// Waits for the operation that was submitted last in the slot of `operation`, and makes the slot idle; nothing when
  /// it is idle. `alive` is called now and then.
  [[nodiscard]] std::optional<Outcome> wait(std::uint64_t operation, const std::function<void()>& alive) {
    constexpr std::chrono::milliseconds now_and_then{100};
    const std::size_t slot = operation % places_.size();
    std::unique_lock lock(mutex_);
    if (places_[slot] == Place::idle) return std::nullopt;
    while (!done_.wait_for(lock, now_and_then, [&] { return places_[slot] == Place::done; })) alive();
    places_[slot] = Place::idle;
    return std::exchange(outcomes_[slot], std::nullopt);
  }

 private:
  enum class Place { idle, under_way, done };

  void serve() {
    Own own;
    std::unique_lock lock(mutex_);
    while (true) {
      handed_over_.wait(lock, [this] { return leaves_ || !waiting_.empty(); });
      if (leaves_) return;
      const std::uint64_t operation = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      Outcome outcome = job_(operation, own);
      lock.lock();
      outcomes_[operation % places_.size()] = std::move(outcome);
      places_[operation % places_.size()] = Place::done;
      done_.notify_one();
    }
  }

  const Job job_;
  std::mutex mutex_;
  std::condition_variable handed_over_;
  std::condition_variable done_;
  // Guarded by mutex_, as are the next three.
  std::deque<std::uint64_t> waiting_;
  std::vector<Place> places_;
  std::vector<std::optional<Outcome>> outcomes_;
  bool leaves_ = false;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace ullage
