// SPDX-License-Identifier: Apache-2.0
#include "base/thread_team.hpp"

#include <system_error>

#include "base/affinity.hpp"
#include "base/clock.hpp"

namespace ullage {
namespace {

/// So often a thread looks for the others before it lets somebody else have its core.
constexpr int looks_before_yield = 2000;

}  // namespace

ThreadTeam::ThreadTeam(std::span<const int> cpus) : spans_(cpus.size()) {
  try {
    for (std::size_t thread = 0; thread < cpus.size(); ++thread)
      threads_.emplace_back([this, thread, cpu = cpus[thread]] { serve(thread, cpu); });
  } catch (const std::system_error&) {
    dismiss();  // those that have started wait for work, and would be waited for
    throw;
  }
}

ThreadTeam::~ThreadTeam() { dismiss(); }

void ThreadTeam::dismiss() {
  {
    const std::scoped_lock lock(mutex_);
    leaves_ = true;
  }
  begin_.notify_all();
}

std::span<const ThreadTeam::Span> ThreadTeam::run(const Task& task) {
  std::unique_lock lock(mutex_);
  task_ = &task;
  busy_ = threads_.size();
  ++turn_;
  begin_.notify_all();
  ended_.wait(lock, [this] { return busy_ == 0; });
  return spans_;
}

void ThreadTeam::serve(std::size_t thread, int cpu) {
  if (!pin_to(cpu)) ++unpinned_;
  for (std::uint64_t turn = 1;; ++turn) {
    {
      std::unique_lock lock(mutex_);
      begin_.wait(lock, [&] { return leaves_ || turn_ == turn; });
      if (leaves_) return;
    }
    if (task_->around) task_->around(thread);
    meet(turn);
    spans_[thread].start_ns = now_ns();
    task_->body(thread);
    spans_[thread].stop_ns = now_ns();
    if (task_->around) task_->around(thread);
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) ended_.notify_one();
  }
}

/// Waits awake, since being woken takes longer than the threads may be apart.
void ThreadTeam::meet(std::uint64_t turn) {
  ++arrived_;
  for (int looks = 0; arrived_.load(std::memory_order_acquire) < turn * spans_.size(); ++looks)
    if (looks >= looks_before_yield) std::this_thread::yield();
}

}  // namespace ullage
