// SPDX-License-Identifier: Apache-2.0
// What the accelerators of one rank did in an epoch. They share its meter, one step at a time.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/clock.hpp"
#include "base/meter.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage {

enum class TrainingPart { open, read, close, wait, late };

/// Says how long the calls for one sample took.
struct SampleTimes {
  std::int64_t open_ns = 0;
  std::int64_t read_ns = 0;
  std::int64_t close_ns = 0;
  std::uint64_t bytes = 0;
  bool of_own_node = false;   // its node has written it
  std::int64_t ended_ns = 0;  // by now_ns()
};

/// One step of an accelerator.
struct TrainingStep {
  std::int64_t begun_ns = 0;  // when the step before it was done
  std::int64_t wait_ns = 0;   // from then to the last sample of its batch
  std::int64_t late_ns = 0;   // from its end to the moment at which its thread was awake
  std::uint64_t bytes = 0;
};

/// An accelerator's epoch without its first step.
struct TrainingRun {
  double compute_s = 0;  // as planned
  double run_s = 0;      // as it went
  /// Nothing with a single step.
  [[nodiscard]] std::optional<double> use() const {
    return run_s > 0 ? std::optional(compute_s / run_s) : std::nullopt;
  }
};

constexpr std::size_t number_of(TrainingPart part) { return static_cast<std::size_t>(part); }

/// All calls may come from several threads.
class TrainingAccount final {
 public:
  explicit TrainingAccount(std::size_t accelerators) : running_(accelerators) {}

  [[nodiscard]] static std::vector<std::string> part_names() { return {"open", "read", "close", "wait", "late"}; }

  /// Before the accelerators begin; the meter is theirs until wait_for_all() has returned.
  void start(Meter& meter, std::int64_t now) {
    const std::scoped_lock lock(mutex_);
    meter_ = &meter;
    start_ns_ = now;
  }

  /// When they began.
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }

  void add(const std::vector<SampleTimes>& samples) {
    const std::scoped_lock lock(mutex_);
    for (const SampleTimes& sample : samples) {
      meter_->add_part(number_of(TrainingPart::open), sample.open_ns);
      meter_->add_part(number_of(TrainingPart::read), sample.read_ns);
      meter_->add_part(number_of(TrainingPart::close), sample.close_ns);
      of_own_node_ += sample.of_own_node ? 1U : 0U;
    }
    samples_ += samples.size();
  }

  /// An accelerator will compute until then.
  void computes_until(std::int64_t due_ns) {
    const std::scoped_lock lock(mutex_);
    computing_until_ns_ = std::max(computing_until_ns_, due_ns);
  }

  /// False: no further step is to be begun.
  [[nodiscard]] bool add(const TrainingStep& step) {
    const std::scoped_lock lock(mutex_);
    meter_->add_part(number_of(TrainingPart::wait), step.wait_ns);
    meter_->add_part(number_of(TrainingPart::late), step.late_ns);
    most_late_ns_ = std::max(most_late_ns_, step.late_ns);
    // The step was over when it was due. The next one begins then, however late this is noticed.
    return meter_->completed_since(step.begun_ns + step.late_ns, step.bytes) && !failure_;
  }

  void end(const TrainingRun& run) {
    const std::scoped_lock lock(mutex_);
    sum_.compute_s += run.compute_s;
    sum_.run_s += run.run_s;
    if (const auto use = run.use()) least_use_ = std::min(least_use_.value_or(*use), *use);
    leave();
  }

  void fail_with(const Error& error) {
    const std::scoped_lock lock(mutex_);
    if (!failure_) failure_ = error;
    leave();
  }

  /// Waits until every accelerator has ended; the first error. Says that the rank is alive while one of them computes.
  [[nodiscard]] Status wait_for_all() {
    constexpr std::chrono::milliseconds now_and_then{100};
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, now_and_then, [this] { return running_ == 0; }))
      if (now_ns() < computing_until_ns_) meter_->report_alive();
    return failure_ ? Status(fail(*failure_)) : Status{};
  }

  // After that.
  [[nodiscard]] const TrainingRun& sum() const { return sum_; }
  [[nodiscard]] double least_use() const { return least_use_.value_or(0); }
  [[nodiscard]] std::int64_t most_late_ns() const { return most_late_ns_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t of_own_node() const { return of_own_node_; }

 private:
  void leave() {
    if (--running_ == 0) ended_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable ended_;
  std::int64_t start_ns_ = 0;
  // Guarded by mutex_, all of them.
  Meter* meter_ = nullptr;
  std::size_t running_;
  std::int64_t computing_until_ns_ = 0;
  std::optional<Error> failure_;
  TrainingRun sum_;
  std::optional<double> least_use_;
  std::int64_t most_late_ns_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t of_own_node_ = 0;
};

}  // namespace ullage
