// SPDX-License-Identifier: Apache-2.0
// One emulated accelerator: takes batch after batch and computes with each for as long as a real one would.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/helper_threads.hpp"
#include "storage/workloads/loader/sample_reader.hpp"
#include "storage/workloads/loader/training_account.hpp"

namespace ullage {

/// An epoch of it. Samples are read ahead by threads, in order, as soon as fewer than the window are begun and not yet
/// computed with. A step begins when the one before it is done and its batch is read, and ends the step time later: by
/// the clock, not by when the thread wakes up. So what a wake-up is late by is in no later step, as an accelerator with
/// work in its queue does not wait for its host.
class Accelerator final {
 public:
  /// `memory`: of its slots. What is referred to outlives it.
  Accelerator(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory,
              TrainingAccount& account);

  /// Once, before work(). All threads that read, or none and the error.
  [[nodiscard]] Status start() { return readers_.start(static_cast<std::size_t>(state_.parameters->threads)); }
  /// The whole epoch, from the account's start; what becomes of it is told the account.
  void work();

  /// Batches, of which the last may be smaller.
  [[nodiscard]] std::uint64_t steps() const;
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] SampleReader& reader() { return reader_; }

 private:
  [[nodiscard]] Result<TrainingRun> train();
  [[nodiscard]] std::uint64_t size_of(std::uint64_t step) const;
  /// Fills batch_ with the times of a step's samples; when the last of them was read.
  [[nodiscard]] Result<std::int64_t> await(std::uint64_t step);
  /// Where so many samples were computed with.
  void read_ahead(std::uint64_t done);
  [[nodiscard]] std::int64_t compute_ns(std::uint64_t step) const;

  const LoaderState& state_;
  std::uint64_t samples_;
  TrainingAccount& account_;
  SampleReader reader_;
  std::vector<SampleTimes> batch_;
  std::uint64_t asked_ = 0;                                        // samples
  HelperThreads<Result<SampleTimes>, SampleReader::Own> readers_;  // last: they use the others
};

}  // namespace ullage
