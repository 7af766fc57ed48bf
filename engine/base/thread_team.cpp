// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.hpp"

#include <thread>

#include "base/affinity.hpp"
#include "base/clock.hpp"
#include "base/resources.hpp"

namespace ullage {
namespace {

/// So often a thread looks for the others before it lets somebody else have its core.
constexpr int looks_before_yield = 2000;

}  // namespace

Status ThreadTeam::start() {
  return workers_.start(
      cpus_.size(), [this](std::size_t thread) { return serve(thread); },
      [this] {
        const std::scoped_lock lock(mutex_);
        leaves_ = true;
        begin_.notify_all();
      });
}

std::span<const ThreadTeam::Span> ThreadTeam::run(const Task& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  busy_ = spans_.size();
  ++turn_;
  begin_.notify_all();
  ended_.wait(lock, [this] { return busy_ == 0; });
  return spans_;
}

Status ThreadTeam::serve(std::size_t thread) {
  if (!pin_to(cpus_[thread])) ++unpinned_;
  for (std::uint64_t turn = 1;; ++turn) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return leaves_ || turn_ == turn; });
      if (leaves_) return {};
    }
    Status done = call(task_->around, thread);
    meet(turn);
    spans_[thread].start_ns = now_ns();
    const Status worked = call(task_->body, thread);
    spans_[thread].stop_ns = now_ns();
    if (done) done = worked;
    if (Status after = call(task_->around, thread); done) done = std::move(after);
    const std::scoped_lock lock(mutex_);
    if (!done && status_) status_ = std::move(done);
    if (--busy_ == 0) ended_.notify_one();
  }
}

/// The others wait for this thread whatever happens to it.
Status ThreadTeam::call(const std::function<void(std::size_t)>& part, std::size_t thread) {
  return catch_resource_errors([&] -> Status {
    if (part) part(thread);
    return {};
  });
}

/// Waits awake, since being woken takes longer than the threads may be apart.
void ThreadTeam::meet(std::uint64_t turn) {
  ++arrived_;
  for (int looks = 0; arrived_.load(std::memory_order_acquire) < turn * spans_.size(); ++looks)
    if (looks >= looks_before_yield) std::this_thread::yield();
}

}  // namespace ullage
