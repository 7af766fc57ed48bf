// SPDX-License-Identifier: Apache-2.0
// One emulated accelerator: takes batch after batch and computes with each for as long as a real one would.
#pragma once

#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "storage/workloads/loader/prefetch.hpp"
#include "storage/workloads/loader/sample_reader.hpp"
#include "storage/workloads/loader/training_account.hpp"

namespace ullage {

/// An epoch of it, on a thread of its own. A step begins when the one before it is done and its batch is read, and ends
/// the step time later: by the clock, not by when the thread wakes up. So what a wake-up is late by is in no later
/// step, as an accelerator with work in its queue does not wait for its host.
class Accelerator final {
 public:
  /// `memory`: of its slots. What is referred to outlives it.
  Accelerator(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory,
              TrainingAccount& account);
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;
  ~Accelerator() = default;

  [[nodiscard]] std::uint64_t steps() const { return prefetch_.steps(); }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] SampleReader& reader() { return reader_; }

 private:
  void work();
  [[nodiscard]] Result<TrainingRun> train(std::int64_t start_ns);
  [[nodiscard]] std::int64_t compute_ns(std::uint64_t step) const;

  const LoaderState& state_;
  std::uint64_t samples_;
  TrainingAccount& account_;
  SampleReader reader_;
  Prefetch prefetch_;
  std::vector<SampleTimes> batch_;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace ullage
