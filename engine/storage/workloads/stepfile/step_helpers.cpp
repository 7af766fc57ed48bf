// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_helpers.hpp"

#include <chrono>
#include <utility>

namespace ullage {

StepHelpers::StepHelpers(std::size_t threads, std::size_t slots, Job job)
    : job_(std::move(job)), places_(slots, Place::idle), outcomes_(slots) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

StepHelpers::~StepHelpers() {
  const std::scoped_lock lock(mutex_);
  leaves_ = true;
  handed_over_.notify_all();
}

void StepHelpers::submit(std::uint64_t operation) {
  const std::scoped_lock lock(mutex_);
  places_[operation % places_.size()] = Place::under_way;
  waiting_.push_back(operation);
  handed_over_.notify_one();
}

std::optional<StepHelpers::Outcome> StepHelpers::wait(std::uint64_t operation, const std::function<void()>& alive) {
  constexpr std::chrono::milliseconds now_and_then{100};
  const std::size_t slot = operation % places_.size();
  std::unique_lock lock(mutex_);
  if (places_[slot] == Place::idle) return std::nullopt;
  while (!done_.wait_for(lock, now_and_then, [&] { return places_[slot] == Place::done; })) alive();
  places_[slot] = Place::idle;
  return std::exchange(outcomes_[slot], std::nullopt);
}

void StepHelpers::serve() {
  HelperClock clock;
  std::unique_lock lock(mutex_);
  while (true) {
    handed_over_.wait(lock, [this] { return leaves_ || !waiting_.empty(); });
    if (leaves_) return;
    const std::uint64_t operation = waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    Outcome outcome = job_(operation, clock);
    lock.lock();
    outcomes_[operation % places_.size()] = std::move(outcome);
    places_[operation % places_.size()] = Place::done;
    done_.notify_one();
  }
}

}  // namespace ullage
