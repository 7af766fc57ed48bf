// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include <algorithm>

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

class ForwardPhase final : public StepPhase {
 public:
  ForwardPhase(const StepfileState& state, RevolveState* revolve)
      : StepPhase(state, revolve, Direction::write, state.parameters->write_behind, forward_parts(*state.parameters)) {}

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info = StepPhase::info();
    info.collective_sync = wants_sync() && !parameters().in_log();
    return info;
  }

  [[nodiscard]] Status before() override {
    if (auto status = StepPhase::before(); !status) return status;
    return start_helpers(
        [this](std::uint64_t step, HelperClock& clock) { return files_.write(write_of(step), clock); });
  }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    first_ = first;
    prepared_ = works_inline() ? most : std::min(most, slots_.count());
    if (works_inline()) return prepared_;
    for (std::uint64_t step = first; step < first + prepared_; ++step) fill(slot(step), step);
    name_ahead(first, prepared_, [](std::uint64_t step) { return step; });
    return prepared_;
  }

  [[nodiscard]] Status open() override { return files_.open_log(OpenMode::create); }
  [[nodiscard]] bool wants_sync() const override { return parameters().sync == StepSync::close; }
  /// A log is each rank's own; of files in directories everything is synced at once, when all ranks of the node are
  /// done.
  [[nodiscard]] Status sync() override {
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

  [[nodiscard]] Status close() override {
    Status first;
    drain(nullptr, first);
    keep_first(first, files_.write_index());
    keep_first(first, files_.close_log());
    state_.turnaround->forward_ns = now_ns() - computed_at_ns_;
    return first;
  }

  [[nodiscard]] Verification after(std::uint64_t /*executed*/, Meter& /*progress*/) override {
    share();
    return {};
  }

 private:
  [[nodiscard]] bool syncs(std::uint64_t step) const {
    if (parameters().sync == StepSync::fsync) return true;
    return parameters().sync == StepSync::every && (step + 1) % parameters().sync_every == 0;
  }

  /// Asked once for each step.
  [[nodiscard]] bool keeps(std::uint64_t step) {
    if (revolve_ == nullptr) return true;
    if (revolve_->is_next(RevolveAction::Kind::advance, step)) revolve_->go_on();
    return revolve_->is_next(RevolveAction::Kind::store, step);
  }

  [[nodiscard]] StepFiles::Write write_of(std::uint64_t step) {
    const std::uint64_t place = revolve_ == nullptr ? step : revolve_->next->slot;
    return {place, slot(step), revolve_ != nullptr && revolve_->written[place], syncs(step)};
  }

  [[nodiscard]] Status do_step(std::uint64_t step, Meter& meter) override {
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
  [[nodiscard]] Status hand_over(std::uint64_t step, Meter& meter) {
    helpers_->submit(step);
    Status status;
    if (step + 1 == parameters().steps) drain(&meter, status);
    return status;
  }

  [[nodiscard]] Status write_now(std::uint64_t step, Meter& meter) {
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

  std::int64_t computed_at_ns_ = 0;  // the last step
};

}  // namespace

std::unique_ptr<PhaseWork> make_forward_phase(const StepfileState& state, RevolveState* revolve) {
  return std::make_unique<ForwardPhase>(state, revolve);
}

}  // namespace ullage
