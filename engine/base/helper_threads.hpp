// SPDX-License-Identifier: Apache-2.0
// Threads that do jobs for another thread while it does something else.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/meter.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "base/workers.hpp"

namespace ullage {

/// A ring of slots, each for one job that is under way. Jobs are begun in the order they were handed over. Used by one
/// thread; the job of a slot and what it points to are a helper's from submit() until wait() has returned. `Done` is
/// what a job returns, a Status or a Result; each helper has a default `Own`. At the end no further job is begun, and
/// those that were begun are waited for.
template <class Done, class Own>
class HelperThreads final {
 public:
  using Outcome = Done;
  /// Does operation `operation`; called by several threads at once, each with what it owns.
  using Job = std::function<Outcome(std::uint64_t operation, Own& own)>;

  HelperThreads(std::size_t slots, Job job)
      : job_(std::move(job)), waiting_(slots), places_(slots, Place::idle), outcomes_(slots) {}

  /// Once, and before any job. All threads, or none and the error.
  [[nodiscard]] Status start(std::size_t threads) {
    owns_.resize(threads);
    return workers_.start(threads, [this](std::size_t thread) { return serve(owns_[thread]); }, [this] { dismiss(); });
  }

  [[nodiscard]] std::size_t slots() const { return outcomes_.size(); }

  /// Hands over `count` operations from `first` on; their slots, the operation modulo slots(), must be idle.
  void submit(std::uint64_t first, std::uint64_t count = 1) {
    const std::scoped_lock lock(mutex_);
    for (std::uint64_t operation = first; operation < first + count; ++operation) {
      waiting_[submitted_++ % waiting_.size()] = operation;
      places_[operation % places_.size()] = Place::under_way;
      handed_over_.notify_one();
    }
  }

  /// Waits for the operation that was submitted last in the slot of `operation`, and makes the slot idle; nothing when
  /// it is idle. `alive` is called now and then.
  [[nodiscard]] std::optional<Outcome> wait(std::uint64_t operation, const std::function<void()>& alive) {
    constexpr std::chrono::milliseconds now_and_then{100};
    const std::size_t slot = operation % places_.size();
    std::unique_lock lock(mutex_);
    if (places_[slot] == Place::idle) return std::nullopt;
    awaited_ = slot;
    while (!done_.wait_for(lock, now_and_then, [&] { return places_[slot] == Place::done; })) alive();
    places_[slot] = Place::idle;
    return std::exchange(outcomes_[slot], std::nullopt);
  }

 private:
  enum class Place { idle, under_way, done };

  Status serve(Own& own) {
    std::unique_lock lock(mutex_);
    while (true) {
      handed_over_.wait(lock, [this] { return leaves_ || begun_ < submitted_; });
      if (leaves_) return {};
      const std::uint64_t operation = waiting_[begun_++ % waiting_.size()];
      lock.unlock();
      Outcome outcome = catch_resource_errors([&] { return job_(operation, own); });
      lock.lock();
      const std::size_t slot = operation % places_.size();
      outcomes_[slot] = std::move(outcome);
      places_[slot] = Place::done;
      if (slot == awaited_) done_.notify_one();
    }
  }

  void dismiss() {
    const std::scoped_lock lock(mutex_);
    leaves_ = true;
    handed_over_.notify_all();
  }

  const Job job_;
  std::vector<Own> owns_;  // one a thread
  std::mutex mutex_;
  std::condition_variable handed_over_;
  std::condition_variable done_;
  // Guarded by mutex_, as are the next six.
  std::vector<std::uint64_t> waiting_;  // a ring: jobs [begun_, submitted_) of all
  std::uint64_t submitted_ = 0;
  std::uint64_t begun_ = 0;
  std::vector<Place> places_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::size_t awaited_ = 0;
  bool leaves_ = false;
  Workers workers_;  // last: they use the others
};

// The clock and the account of a thread that moves data beside its rank's own thread.

/// Backends tick a meter, and the rank's own is of one thread. Owned by one thread.
class HelperClock final {
 public:
  HelperClock() : meter_(std::make_unique<Meter>()) {
    meter_->use_histogram(false);
    meter_->start(meter_->clock_ns());
  }

  [[nodiscard]] std::int64_t now_ns() { return meter_->clock_ns(); }
  /// Returns the meter for a transfer that begins at `from_ns`.
  [[nodiscard]] Meter& meter_from(std::int64_t from_ns) {
    meter_->resume(from_ns);
    return *meter_;
  }
  /// The same for one that begins now: what lies between transfers is no device's time.
  [[nodiscard]] Meter& from_now() { return meter_from(now_ns()); }

 private:
  std::unique_ptr<Meter> meter_;
};

}  // namespace ullage
