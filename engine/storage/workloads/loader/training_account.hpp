// SPDX-License-Identifier: Apache-2.0
// What the accelerators of one rank did in an epoch. They share its meter, one step at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "base/result.hpp"

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

/// All calls may come from several threads.
class TrainingAccount final {
 public:
  explicit TrainingAccount(std::size_t accelerators) : running_(accelerators) {}

  [[nodiscard]] static std::vector<std::string> part_names();

  /// Before the accelerators begin; the meter is theirs until wait_for_all() has returned.
  void start(Meter& meter, std::int64_t now);
  /// When they began.
  [[nodiscard]] std::int64_t start_ns() const { return start_ns_; }

  void add(const std::vector<SampleTimes>& samples);
  /// An accelerator will compute until then.
  void computes_until(std::int64_t due_ns);
  /// False: no further step is to be begun.
  [[nodiscard]] bool add(const TrainingStep& step);
  void end(const TrainingRun& run);
  void fail_with(const Error& error);

  /// Waits until every accelerator has ended; the first error. Says that the rank is alive while one of them computes.
  [[nodiscard]] Status wait_for_all();

  // After that.
  [[nodiscard]] const TrainingRun& sum() const { return sum_; }
  [[nodiscard]] double least_use() const { return least_use_.value_or(0); }
  [[nodiscard]] std::int64_t most_late_ns() const { return most_late_ns_; }
  [[nodiscard]] std::uint64_t samples() const { return samples_; }
  [[nodiscard]] std::uint64_t of_own_node() const { return of_own_node_; }

 private:
  void leave();

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
