// SPDX-License-Identifier: Apache-2.0
#include "storage/moving_threads.hpp"

#include <system_error>

#include "base/clock.hpp"

namespace ullage {

MovingThreads::MovingThreads(std::size_t count)
    : begin_(static_cast<std::ptrdiff_t>(count)), ended_(static_cast<std::ptrdiff_t>(count)) {
  try {
    for (std::size_t thread = 1; thread < count; ++thread) others_.emplace_back([this, thread] { serve(thread); });
  } catch (const std::system_error&) {
    // Those that have started wait for all to come: the others, which never will, are signed off.
    leaves_ = true;
    for (std::size_t missing = others_.size() + 1; missing < count; ++missing) begin_.arrive_and_drop();
    begin_.arrive_and_wait();
    throw;
  }
}

MovingThreads::~MovingThreads() {
  leaves_ = true;
  begin_.arrive_and_wait();
}

Status MovingThreads::run(std::span<const Extent> extents, Meter& meter, const Move& move) {
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

void MovingThreads::serve(std::size_t thread) {
  while (true) {
    begin_.arrive_and_wait();
    if (leaves_) return;
    work(thread);
    ended_.arrive_and_wait();
  }
}

void MovingThreads::work(std::size_t thread) {
  std::byte* const own = window_ > 0 && extents_.size() > window_ ? extents_[thread].data : nullptr;
  while (goes_on_.load(std::memory_order_relaxed)) {
    const std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= extents_.size()) return;
    Extent extent = extents_[i];
    if (own != nullptr) extent.data = own;
    const std::int64_t begun_ns = now_ns();
    const Status moved = (*move_)(thread, extent);
    const std::scoped_lock lock(account_);
    if (!moved && !failure_) failure_ = moved.error();
    if (!moved || !meter_->completed_since(begun_ns, extent.length_bytes)) goes_on_ = false;
  }
}

Status ThreadsFacet::make_ready(std::span<std::byte> /*memory*/, const Concurrency& wanted) {
  const auto count = static_cast<std::size_t>(wanted.threads);
  if (count == 1) {
    threads_.reset();
    return {};
  }
  if (!threads_ || threads_->size() != count) threads_ = std::make_unique<MovingThreads>(count);
  threads_->share_memory(wanted.window);
  return {};
}

}  // namespace ullage
