// SPDX-License-Identifier: Apache-2.0
#include "storage/moving_threads.hpp"

#include "base/clock.hpp"
#include "base/resources.hpp"

namespace ullage {

Status MovingThreads::start() {
  return others_.start(
      count_ - 1, [this](std::size_t other) { return serve(other + 1); },
      [this] {
        leaves_ = true;
        begin_.arrive_and_wait();
      });
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

Status MovingThreads::serve(std::size_t thread) {
  while (true) {
    begin_.arrive_and_wait();
    if (leaves_) return {};
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
    const Status moved = catch_resource_errors([&] { return (*move_)(thread, extent); });
    const std::scoped_lock lock(account_);
    if (!moved && !failure_) failure_ = moved.error();
    if (!moved || !meter_->completed_since(begun_ns, extent.length_bytes)) goes_on_ = false;
  }
}

Status FileThreads::make_ready(const Concurrency& wanted) {
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

}  // namespace ullage
