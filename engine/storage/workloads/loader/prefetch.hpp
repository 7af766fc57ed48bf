// SPDX-License-Identifier: Apache-2.0
// Threads that read the samples of one accelerator ahead of it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.hpp"

namespace ullage {

/// Says how long the calls for one sample took.
struct SampleTimes {
  std::int64_t open_ns = 0;
  std::int64_t read_ns = 0;
  std::int64_t close_ns = 0;
  std::uint64_t bytes = 0;
  bool of_own_node = false;  // its node has written it
};

/// Samples [0, samples) in batches, of which the last may be smaller. A sample is begun when all before it are, as soon
/// as fewer than `window` are begun and not given back. Used by one thread, which takes the batches in their order.
class Prefetch final {
 public:
  /// Reads sample `index` into slot `index` modulo the window; called by thread `thread` of them, several at once.
  using Read = std::function<Result<SampleTimes>(std::size_t thread, std::uint64_t index)>;
  struct Plan {
    std::size_t threads = 1;
    std::uint64_t samples = 0;
    std::uint64_t batch = 1;
    std::uint64_t window = 1;  // >= batch
  };

  /// The threads are there, and wait for open().
  Prefetch(const Plan& plan, Read read);
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  /// Begins no further sample and waits for those that were begun.
  ~Prefetch();

  [[nodiscard]] std::uint64_t steps() const noexcept { return (plan_.samples + plan_.batch - 1) / plan_.batch; }
  [[nodiscard]] std::uint64_t size_of(std::uint64_t step) const noexcept;

  void open();
  /// When the last sample of batch `step` was read, by now_ns(); the first error of any thread.
  [[nodiscard]] Result<std::int64_t> await(std::uint64_t step);
  /// After await(): the samples' times, in `times`; their slots may be read into again.
  void take(std::uint64_t step, std::vector<SampleTimes>& times);

 private:
  struct Batch {
    std::uint64_t read = 0;
    std::int64_t ready_ns = 0;
  };
  void serve(std::size_t thread);
  /// Under the lock. The sample to read next, where there is one and it may be begun.
  [[nodiscard]] bool may_begin() const noexcept;
  void enter(std::uint64_t index, const Result<SampleTimes>& outcome);
  [[nodiscard]] Batch& batch_of(std::uint64_t step) { return batches_[step % batches_.size()]; }

  const Plan plan_;
  const Read read_;
  std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable ready_;
  // Guarded by mutex_, as are the next six.
  std::vector<SampleTimes> times_;  // by slot
  std::vector<Batch> batches_;
  std::uint64_t next_ = 0;
  std::uint64_t given_back_ = 0;
  bool is_open_ = false;
  bool leaves_ = false;
  std::optional<Error> failure_;
  std::vector<std::jthread> threads_;  // last: they use the others
};

}  // namespace ullage
