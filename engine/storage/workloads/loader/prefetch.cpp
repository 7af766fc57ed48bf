// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/prefetch.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace ullage {

Prefetch::Prefetch(const Plan& plan, Read read)
    : plan_(plan), read_(std::move(read)), times_(plan.window), batches_(plan.window / plan.batch + 2) {
  for (std::size_t i = 0; i < plan.threads; ++i) threads_.emplace_back([this, i] { serve(i); });
}

Prefetch::~Prefetch() {
  const std::scoped_lock lock(mutex_);
  leaves_ = true;
  room_.notify_all();
}

std::uint64_t Prefetch::size_of(std::uint64_t step) const noexcept {
  return std::min(plan_.batch, plan_.samples - step * plan_.batch);
}

void Prefetch::open() {
  const std::scoped_lock lock(mutex_);
  is_open_ = true;
  room_.notify_all();
}

Result<std::int64_t> Prefetch::await(std::uint64_t step) {
  std::unique_lock lock(mutex_);
  ready_.wait(lock, [&] { return failure_ || batch_of(step).read == size_of(step); });
  if (failure_) return fail(*failure_);
  return batch_of(step).ready_ns;
}

void Prefetch::take(std::uint64_t step, std::vector<SampleTimes>& times) {
  const std::scoped_lock lock(mutex_);
  times.clear();
  const std::uint64_t first = step * plan_.batch;
  for (std::uint64_t index = first; index < first + size_of(step); ++index)
    times.push_back(times_[index % plan_.window]);
  batch_of(step) = {};
  given_back_ += size_of(step);
  room_.notify_all();
}

bool Prefetch::may_begin() const noexcept {
  return is_open_ && next_ < plan_.samples && next_ < given_back_ + plan_.window;
}

void Prefetch::serve(std::size_t thread) {
  std::unique_lock lock(mutex_);
  while (true) {
    room_.wait(lock, [this] { return leaves_ || may_begin(); });
    if (leaves_) return;
    const std::uint64_t index = next_++;
    lock.unlock();
    const auto outcome = read_(thread, index);
    lock.lock();
    enter(index, outcome);
  }
}

void Prefetch::enter(std::uint64_t index, const Result<SampleTimes>& outcome) {
  if (!outcome) {
    if (!failure_) failure_ = outcome.error();
    leaves_ = true;
    room_.notify_all();
    return ready_.notify_all();
  }
  times_[index % plan_.window] = *outcome;
  Batch& batch = batch_of(index / plan_.batch);
  if (++batch.read < size_of(index / plan_.batch)) return;
  batch.ready_ns = now_ns();
  ready_.notify_all();
}

}  // namespace ullage
