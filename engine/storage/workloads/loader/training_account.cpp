// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/training_account.hpp"

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace ullage {
namespace {

constexpr std::size_t number_of(TrainingPart part) { return static_cast<std::size_t>(part); }

}  // namespace

std::vector<std::string> TrainingAccount::part_names() { return {"open", "read", "close", "wait", "late"}; }

void TrainingAccount::start(Meter& meter, std::int64_t now) {
  const std::scoped_lock lock(mutex_);
  meter_ = &meter;
  start_ns_ = now;
}

void TrainingAccount::add(const std::vector<SampleTimes>& samples) {
  const std::scoped_lock lock(mutex_);
  for (const SampleTimes& sample : samples) {
    meter_->add_part(number_of(TrainingPart::open), sample.open_ns);
    meter_->add_part(number_of(TrainingPart::read), sample.read_ns);
    meter_->add_part(number_of(TrainingPart::close), sample.close_ns);
    of_own_node_ += sample.of_own_node ? 1U : 0U;
  }
  samples_ += samples.size();
}

void TrainingAccount::computes_until(std::int64_t due_ns) {
  const std::scoped_lock lock(mutex_);
  computing_until_ns_ = std::max(computing_until_ns_, due_ns);
}

bool TrainingAccount::add(const TrainingStep& step) {
  const std::scoped_lock lock(mutex_);
  meter_->add_part(number_of(TrainingPart::wait), step.wait_ns);
  meter_->add_part(number_of(TrainingPart::late), step.late_ns);
  most_late_ns_ = std::max(most_late_ns_, step.late_ns);
  // The step was over when it was due. The next one begins then, however late this is noticed.
  return meter_->completed_since(step.begun_ns + step.late_ns, step.bytes) && !failure_;
}

void TrainingAccount::end(const TrainingRun& run) {
  const std::scoped_lock lock(mutex_);
  sum_.compute_s += run.compute_s;
  sum_.run_s += run.run_s;
  if (const auto use = run.use()) least_use_ = std::min(least_use_.value_or(*use), *use);
  leave();
}

void TrainingAccount::fail_with(const Error& error) {
  const std::scoped_lock lock(mutex_);
  if (!failure_) failure_ = error;
  leave();
}

void TrainingAccount::leave() {
  if (--running_ == 0) ended_.notify_all();
}

Status TrainingAccount::wait_for_all() {
  constexpr std::chrono::milliseconds now_and_then{100};
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, now_and_then, [this] { return running_ == 0; }))
    if (now_ns() < computing_until_ns_) meter_->report_alive();
  return failure_ ? Status(fail(*failure_)) : Status{};
}

}  // namespace ullage
