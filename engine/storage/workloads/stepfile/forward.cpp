// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/forward.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {
namespace {

std::vector<StepPart> forward_parts(const StepfileParameters& p) {
  std::vector<StepPart> parts{StepPart::transfer};
  if (!p.in_log()) parts.insert(parts.end(), {StepPart::open, StepPart::close});
  if (p.sync == StepSync::fsync || p.sync == StepSync::every) parts.push_back(StepPart::sync);
  return parts;
}

}  // namespace

ForwardPhase::ForwardPhase(const StepfileState& state, RevolveState* revolve)
    : StepPhase(state, revolve, Direction::write, state.parameters->write_behind, forward_parts(*state.parameters)) {}

PhaseInfo ForwardPhase::info() const {
  PhaseInfo info = StepPhase::info();
  info.collective_sync = wants_sync() && !parameters().in_log();
  return info;
}

Status ForwardPhase::before() {
  if (auto status = StepPhase::before(); !status) return status;
  return start_helpers([this](std::uint64_t step, HelperClock& clock) { return files_.write(write_of(step), clock); });
}

std::uint64_t ForwardPhase::prepare(std::uint64_t first, std::uint64_t most) {
  first_ = first;
  prepared_ = works_inline() ? most : std::min(most, slots_);
  if (works_inline()) return prepared_;
  for (std::uint64_t step = first; step < first + prepared_; ++step) fill(slot(step), step);
  name_ahead(first, prepared_, [](std::uint64_t step) { return step; });
  return prepared_;
}

Status ForwardPhase::execute(Meter& meter) {
  Status status;
  for (std::uint64_t step = first_; step < first_ + prepared_; ++step) {
    status = do_step(step, meter);
    if (!status || !meter.goes_on()) break;
  }
  if (!status || !meter.goes_on()) drain(&meter, status);
  return status;
}

bool ForwardPhase::syncs(std::uint64_t step) const {
  if (parameters().sync == StepSync::fsync) return true;
  return parameters().sync == StepSync::every && (step + 1) % parameters().sync_every == 0;
}

/// Asked once for each step.
bool ForwardPhase::keeps(std::uint64_t step) {
  if (revolve_ == nullptr) return true;
  if (revolve_->is_next(RevolveAction::Kind::advance, step)) revolve_->go_on();
  return revolve_->is_next(RevolveAction::Kind::store, step);
}

StepFiles::Write ForwardPhase::write_of(std::uint64_t step) {
  const std::uint64_t place = revolve_ == nullptr ? step : revolve_->next->slot;
  return {place, slot(step), revolve_ != nullptr && revolve_->written[place], syncs(step)};
}

Status ForwardPhase::do_step(std::uint64_t step, Meter& meter) {
  const std::int64_t begun = meter.last_ns();
  std::int64_t from = begun;
  Status status;
  if (helpers_) {
    take(helpers_->wait(step, [&meter] { meter.report_alive(); }), &meter, status);
    if (!status) return status;
    from = meter.clock_ns();
    account_.add(meter, StepPart::wait, from - begun);
  }
  const bool kept = keeps(step);
  std::int64_t computed = from;
  if (works_inline()) {
    if (kept) fill(slot(step), step);
    compute_until(from + compute_.at_ns(step, 0), meter);
    computed = meter.clock_ns();
    account_.add(meter, StepPart::compute, computed - from);
  }
  computed_at_ns_ = computed;
  if (kept) status = helpers_ ? hand_over(step, meter) : write_now(step, meter);
  if (!status) return status;
  (void)meter.completed(kept ? parameters().state_bytes : 0);
  account_.step_done(meter, step, meter.last_ns() - begun, computed - from);
  return {};
}

/// After the last step the rank waits for all of them: the phase ends when its states are written.
Status ForwardPhase::hand_over(std::uint64_t step, Meter& meter) {
  helpers_->submit(step);
  Status status;
  if (step + 1 == parameters().steps) drain(&meter, status);
  return status;
}

Status ForwardPhase::write_now(std::uint64_t step, Meter& meter) {
  const StepFiles::Write write = write_of(step);
  const auto times = files_.write(write, clock_);
  if (!times) return fail(times.error());
  account_.add(meter, *times);
  ++states_moved_;
  if (revolve_ == nullptr) return {};
  revolve_->written[write.place] = true;
  revolve_->go_on();
  return {};
}

/// A log is each rank's own; of files in directories everything is synced at once, when all ranks of the node are done.
Status ForwardPhase::sync() {
  if (parameters().in_log()) {
    if (auto status = files_.write_index(); !status) return status;
    return files_.sync_log();
  }
  const mpi::World& world = *state_.context->world;
  world.node().barrier();
  if (!world.topology().leader()) return {};
  for (std::size_t tier = 0; tier < state_.tiers->size(); ++tier)
    if (auto status = sync_file_system_of(*state_.tiers->at(tier).backend, state_.dataset.directory); !status)
      return status;
  return {};
}

Status ForwardPhase::close() {
  Status first;
  drain(nullptr, first);
  keep_first(first, files_.write_index());
  keep_first(first, files_.close_log());
  state_.turnaround->forward_ns = now_ns() - computed_at_ns_;
  return first;
}

Verification ForwardPhase::after(std::uint64_t /*executed*/, Meter& /*progress*/) {
  share();
  return {};
}

}  // namespace ullage
