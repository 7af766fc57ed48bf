// SPDX-License-Identifier: Apache-2.0
#include "message/sockets/task_threads.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/clock.hpp"

namespace ullage {

TaskThreads::TaskThreads(std::span<const std::unique_ptr<StreamTask>> tasks, const StageSign& stage)
    : tasks_(tasks), running_(tasks.size()), outcomes_(tasks.size()) {
  threads_.reserve(tasks.size());
  try {
    for (std::size_t i = 0; i < tasks.size(); ++i)
      threads_.emplace_back([this, i, &stage] {
        Status outcome = tasks_[i]->run(stage);
        const std::scoped_lock lock(mutex_);
        outcomes_[i] = std::move(outcome);
        --running_;
        ended_.notify_all();
      });
  } catch (const std::system_error&) {
    wake();  // those that have started wait for peers, and would be waited for
    throw;
  }
}

TaskThreads::~TaskThreads() { wake(); }

bool TaskThreads::ended_by(std::int64_t deadline_ns) {
  std::unique_lock lock(mutex_);
  const auto left = std::chrono::nanoseconds(deadline_ns - now_ns());
  return ended_.wait_for(lock, left, [this] { return running_ == 0; });
}

void TaskThreads::wake() {
  if (threads_.empty()) return;
  for (const auto& task : tasks_) task->wake();
}

Status TaskThreads::join(std::int64_t deadline_ns) {
  const bool in_time = ended_by(deadline_ns);
  if (!in_time) wake();
  threads_.clear();
  for (const Status& outcome : outcomes_)
    if (!outcome) return outcome;
  if (!in_time) return fail(errno_error(ETIMEDOUT, "end", "streams"));
  return {};
}

}  // namespace ullage
