// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "message/sockets/stream_task.hpp"

namespace ullage {

/// A thread for each task, from now until they are joined. `tasks` and `stage` outlive it.
class TaskThreads final {
 public:
  TaskThreads(std::span<const std::unique_ptr<StreamTask>> tasks, const StageSign& stage);
  TaskThreads(const TaskThreads&) = delete;
  TaskThreads& operator=(const TaskThreads&) = delete;
  /// Wakes them, so that it never waits for long.
  ~TaskThreads();

  /// Returns whether all have ended until `deadline_ns` of now_ns(); waits no longer than that.
  [[nodiscard]] bool ended_by(std::int64_t deadline_ns);
  /// Ends their waits.
  void wake();
  /// The first error of any; an error too where some had to be woken that should have ended by themselves.
  [[nodiscard]] Status join(std::int64_t deadline_ns);

 private:
  std::span<const std::unique_ptr<StreamTask>> tasks_;  // one a thread; others only wake() them and read their tallies
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_;                // guarded by mutex_
  std::vector<Status> outcomes_;       // guarded by mutex_ until the threads are joined
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace ullage
