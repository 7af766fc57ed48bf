// SPDX-License-Identifier: Apache-2.0
// One emulated accelerator: takes batch after batch and computes with each for as long as a real one would.
#pragma once

#include <cmath>

#include "base/clock.hpp"
#include "base/helper_threads.hpp"
#include "base/resources.hpp"
#include "base/std.hpp"
#include "storage/pacer.hpp"
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
  Accelerator(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory, TrainingAccount& account)
      : state_(state),
        samples_(order.count()),
        account_(account),
        reader_(state, order, memory),
        batch_(state.parameters->batch),
        readers_(state.parameters->window(),
                 [this](std::uint64_t index, SampleReader::Own& own) { return reader_.read(index, own); }) {}

  /// Once, before work(). All threads that read, or none and the error.
  [[nodiscard]] Status start() { return readers_.start(static_cast<std::size_t>(state_.parameters->threads)); }

  /// The whole epoch, from the account's start; what becomes of it is told the account.
  void work() {
    const auto run = catch_resource_errors([this] { return train(); });
    if (run)
      account_.end(*run);
    else
      account_.fail_with(run.error());
  }

  /// Batches, of which the last may be smaller.
  [[nodiscard]] std::uint64_t steps() const {
    const std::uint64_t batch = state_.parameters->batch;
    return (samples_ + batch - 1) / batch;
  }

  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] SampleReader& reader() { return reader_; }

 private:
  [[nodiscard]] Result<TrainingRun> train() {
    const Pacer pacer(false);
    TrainingRun run;
    const std::int64_t start_ns = account_.start_ns();
    std::int64_t first_done_ns = start_ns;
    std::int64_t due_ns = start_ns;
    read_ahead(0);
    for (std::uint64_t step = 0; step < steps(); ++step) {
      const auto ready_ns = await(step);
      if (!ready_ns) return fail(ready_ns.error());
      TrainingStep done{.begun_ns = due_ns, .wait_ns = std::max<std::int64_t>(*ready_ns - due_ns, 0)};
      const std::int64_t computes_ns = compute_ns(step);
      due_ns += done.wait_ns + computes_ns;
      read_ahead(step * state_.parameters->batch + batch_.size());
      account_.computes_until(due_ns);
      account_.add(batch_);
      for (const SampleTimes& sample : batch_) done.bytes += sample.bytes;
      pacer.wait_until(due_ns);
      done.late_ns = std::max<std::int64_t>(now_ns() - due_ns, 0);
      if (step == 0)
        first_done_ns = due_ns;
      else
        run.compute_s += static_cast<double>(computes_ns) * 1e-9;
      if (!account_.add(done)) break;
    }
    run.run_s = run.compute_s > 0 ? static_cast<double>(std::max(now_ns(), due_ns) - first_done_ns) * 1e-9 : 0;
    return run;
  }

  [[nodiscard]] std::uint64_t size_of(std::uint64_t step) const {
    return std::min(state_.parameters->batch, samples_ - step * state_.parameters->batch);
  }

  /// Fills batch_ with the times of a step's samples; when the last of them was read.
  /// From the last sample on: those before it have mostly been read when it has, so the wait is woken once.
  [[nodiscard]] Result<std::int64_t> await(std::uint64_t step) {
    batch_.resize(size_of(step));
    std::int64_t ready_ns = 0;
    for (std::uint64_t i = batch_.size(); i-- > 0;) {
      const auto outcome = readers_.wait(step * state_.parameters->batch + i, [] {});
      if (!*outcome) return fail(outcome->error());
      batch_[i] = **outcome;
      ready_ns = std::max(ready_ns, batch_[i].ended_ns);
    }
    return ready_ns;
  }

  /// Where so many samples were computed with.
  void read_ahead(std::uint64_t done) {
    const std::uint64_t end = std::min(samples_, done + state_.parameters->window());
    readers_.submit(asked_, end - asked_);
    asked_ = end;
  }

  /// A batch that is not full takes its part of the time: then all steps together take what the samples do.
  [[nodiscard]] std::int64_t compute_ns(std::uint64_t step) const {
    const double share = static_cast<double>(size_of(step)) / static_cast<double>(state_.parameters->batch);
    return std::llround(state_.parameters->step_s * 1e9 * share);
  }

  const LoaderState& state_;
  std::uint64_t samples_;
  TrainingAccount& account_;
  SampleReader reader_;
  std::vector<SampleTimes> batch_;
  std::uint64_t asked_ = 0;                                        // samples
  HelperThreads<Result<SampleTimes>, SampleReader::Own> readers_;  // last: they use the others
};

}  // namespace ullage
