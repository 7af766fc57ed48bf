// SPDX-License-Identifier: Apache-2.0
// Threads of one rank that move states while it computes.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "storage/workloads/stepfile/step_files.hpp"

namespace ullage {

/// A ring of slots, each for one state that is under way. Jobs are begun in the order they were handed over. Used by
/// one thread; the job of a slot and what it points to are a helper's from submit() until wait() has returned.
class StepHelpers final {
 public:
  using Outcome = Result<StepTimes>;
  /// Moves the state of operation `operation`; called by several threads at once, each with its own clock.
  using Job = std::function<Outcome(std::uint64_t operation, HelperClock& clock)>;

  StepHelpers(std::size_t threads, std::size_t slots, Job job);
  StepHelpers(const StepHelpers&) = delete;
  StepHelpers& operator=(const StepHelpers&) = delete;
  /// Begins no further job and waits for those that were begun.
  ~StepHelpers();

  [[nodiscard]] std::size_t slots() const { return outcomes_.size(); }
  /// The operation's slot, `operation` modulo slots(), must be idle.
  void submit(std::uint64_t operation);
  /// Waits for the operation that was submitted last in the slot of `operation`, and makes the slot idle; nothing when
  /// it is idle. `alive` is called now and then.
  [[nodiscard]] std::optional<Outcome> wait(std::uint64_t operation, const std::function<void()>& alive);

 private:
  enum class Place { idle, under_way, done };
  void serve();

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
