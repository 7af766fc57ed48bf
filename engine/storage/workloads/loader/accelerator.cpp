// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/loader/accelerator.hpp"

#include <algorithm>
#include <cmath>

#include "base/clock.hpp"
#include "storage/pacer.hpp"

namespace ullage {

Accelerator::Accelerator(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory,
                         TrainingAccount& account)
    : state_(state),
      samples_(order.count()),
      account_(account),
      reader_(state, order, memory),
      prefetch_({.threads = static_cast<std::size_t>(state.parameters->threads),
                 .samples = order.count(),
                 .batch = state.parameters->batch,
                 .window = state.parameters->window()},
                [this](std::size_t thread, std::uint64_t index) { return reader_.read(thread, index); }),
      thread_([this] { work(); }) {
  batch_.reserve(state.parameters->batch);
}

void Accelerator::work() {
  const auto start_ns = account_.await_start();
  if (!start_ns) return;
  const auto run = train(*start_ns);
  if (run)
    account_.end(*run);
  else
    account_.fail_with(run.error());
}

/// A batch that is not full takes its part of the time: then all steps together take what the samples do.
std::int64_t Accelerator::compute_ns(std::uint64_t step) const {
  const double share = static_cast<double>(prefetch_.size_of(step)) / static_cast<double>(state_.parameters->batch);
  return std::llround(state_.parameters->step_s * 1e9 * share);
}

Result<TrainingRun> Accelerator::train(std::int64_t start_ns) {
  const Pacer pacer(false);
  TrainingRun run;
  std::int64_t first_done_ns = start_ns;
  std::int64_t due_ns = start_ns;
  prefetch_.open();
  for (std::uint64_t step = 0; step < steps(); ++step) {
    const auto ready_ns = prefetch_.await(step);
    if (!ready_ns) return fail(ready_ns.error());
    TrainingStep done{.begun_ns = due_ns, .wait_ns = std::max<std::int64_t>(*ready_ns - due_ns, 0)};
    const std::int64_t computes_ns = compute_ns(step);
    due_ns += done.wait_ns + computes_ns;
    prefetch_.take(step, batch_);
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
