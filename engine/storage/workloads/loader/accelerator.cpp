// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/accelerator.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "base/resources.hpp"
#include "storage/pacer.hpp"

namespace ullage {

Accelerator::Accelerator(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory,
                         TrainingAccount& account)
    : state_(state),
      samples_(order.count()),
      account_(account),
      reader_(state, order, memory),
      batch_(state.parameters->batch),
      readers_(state.parameters->window(),
               [this](std::uint64_t index, SampleReader::Own& own) { return reader_.read(index, own); }) {}

void Accelerator::work() {
  const auto run = catch_resource_errors([this] { return train(); });
  if (run)
    account_.end(*run);
  else
    account_.fail_with(run.error());
}

std::uint64_t Accelerator::steps() const {
  const std::uint64_t batch = state_.parameters->batch;
  return (samples_ + batch - 1) / batch;
}

std::uint64_t Accelerator::size_of(std::uint64_t step) const {
  return std::min(state_.parameters->batch, samples_ - step * state_.parameters->batch);
}

/// From the last sample on: those before it have mostly been read when it has, so the wait is woken once.
Result<std::int64_t> Accelerator::await(std::uint64_t step) {
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

void Accelerator::read_ahead(std::uint64_t done) {
  const std::uint64_t end = std::min(samples_, done + state_.parameters->window());
  readers_.submit(asked_, end - asked_);
  asked_ = end;
}

/// A batch that is not full takes its part of the time: then all steps together take what the samples do.
std::int64_t Accelerator::compute_ns(std::uint64_t step) const {
  const double share = static_cast<double>(size_of(step)) / static_cast<double>(state_.parameters->batch);
  return std::llround(state_.parameters->step_s * 1e9 * share);
}

Result<TrainingRun> Accelerator::train() {
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

}  // namespace ullage
