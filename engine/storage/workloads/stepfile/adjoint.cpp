// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/phase.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace ullage {
namespace {

std::vector<StepPart> adjoint_parts(const StepfileParameters& p) {
  std::vector<StepPart> parts{StepPart::transfer};
  if (!p.in_log()) parts.insert(parts.end(), {StepPart::open, StepPart::close});
  if (p.remove_read) parts.push_back(StepPart::remove);
  if (p.revolves()) parts.push_back(StepPart::recompute);
  return parts;
}

class AdjointPhase final : public StepPhase {
 public:
  AdjointPhase(const StepfileState& state, RevolveState* revolve)
      : StepPhase(state, revolve, Direction::read, state.parameters->prefetch, adjoint_parts(*state.parameters)),
        order_(parameters().order, parameters().steps, parameters().stride),
        current_(parameters().steps - 1) {}

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info = StepPhase::info();
    info.cache_control = parameters().cache == DropCache::drop ? "drop" : "none";
    if (state_.capabilities.direct) info.cache_control = "direct";
    info.data_of = "own";
    return info;
  }

  [[nodiscard]] Status before() override {
    if (verifies()) slots_.poison();
    if (auto status = StepPhase::before(); !status) return status;
    if (parameters().cache == DropCache::drop)
      if (auto status = drop_caches(); !status) return status;
    return start_helpers([this](std::uint64_t operation, HelperClock& clock) {
      return files_.read(step_of(operation), slot(operation), parameters().remove_read, clock);
    });
  }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    check_batch();
    first_ = first;
    prepared_ = works_inline() ? most : std::min(most, slots_.count());
    if (!works_inline()) name_ahead(first, prepared_, [this](std::uint64_t operation) { return step_of(operation); });
    return prepared_;
  }

  [[nodiscard]] Status open() override {
    opened_ns_ = now_ns();
    return files_.open_log(OpenMode::read);
  }

  [[nodiscard]] Status close() override {
    Status first;
    drain(nullptr, first);
    keep_first(first, files_.close_log());
    return first;
  }

  [[nodiscard]] Verification after(std::uint64_t /*executed*/, Meter& progress) override {
    progress.start(now_ns());
    check_batch();
    share();
    return verification_;
  }

  /// `turn_round_s`: see Turnaround.
  [[nodiscard]] Gauges gauges() const override {
    Gauges found = StepPhase::gauges();
    found["turn_round_s"] = static_cast<double>(state_.turnaround->forward_ns + state_.turnaround->adjoint_ns) * 1e-9;
    return found;
  }

 private:
  /// Says what a step has taken so far.
  struct Spent {
    std::int64_t computed_ns = 0;
    std::uint64_t moved_bytes = 0;
  };
  [[nodiscard]] Status drop_caches() const {
    const std::uint64_t files = parameters().in_log() ? 1 : parameters().kept();
    for (std::uint64_t place = 0; place < files; ++place)
      if (auto status = state_.tiers->of(place).backend->drop_cached(state_.file_of(place)); !status) return status;
    return {};
  }

  [[nodiscard]] std::uint64_t step_of(std::uint64_t operation) const { return order_(operation); }
  [[nodiscard]] Status do_step(std::uint64_t operation, Meter& meter) override {
    const std::int64_t begun = meter.last_ns();
    Spent spent;
    if (auto status = fetch(operation, meter, spent); !status) return status;
    if (operation == 0) state_.turnaround->adjoint_ns = meter.clock_ns() - opened_ns_;
    if (works_inline()) {
      const std::int64_t from = meter.clock_ns();
      if (revolve_ == nullptr) check(slot(operation), step_of(operation));
      compute_until(from + compute_.at_ns(step_of(operation), 1), meter);
      const std::int64_t took = meter.clock_ns() - from;
      account_.add(meter, StepPart::compute, took);
      spent.computed_ns += took;
    } else {
      ++unchecked_;
    }
    (void)meter.completed(spent.moved_bytes);
    account_.step_done(meter, operation, meter.last_ns() - begun, spent.computed_ns);
    return {};
  }

  /// The state that the operation needs comes to hand.
  [[nodiscard]] Status fetch(std::uint64_t operation, Meter& meter, Spent& spent) {
    if (revolve_ != nullptr) return revolve_to(step_of(operation), meter, spent);
    spent.moved_bytes = parameters().state_bytes;
    return helpers_ ? await(operation, meter) : read_now(step_of(operation), slot(operation), meter);
  }

  /// Asks for the states ahead too: the slot of the one furthest ahead is that of the operation before this one.
  [[nodiscard]] Status await(std::uint64_t operation, Meter& meter) {
    const std::int64_t begun = meter.last_ns();
    for (const std::uint64_t end = std::min(parameters().steps, operation + slots_.count()); submitted_ < end;
         ++submitted_)
      helpers_->submit(submitted_);
    Status status;
    take(helpers_->wait(operation, [&meter] { meter.report_alive(); }), &meter, status);
    account_.add(meter, StepPart::wait, meter.clock_ns() - begun);
    files_removed_ += status && parameters().remove_read ? 1 : 0;
    return status;
  }

  [[nodiscard]] Status read_now(std::uint64_t place, std::span<std::byte> data, Meter& meter) {
    const auto times = files_.read(place, data, parameters().remove_read, clock_);
    if (!times) return fail(times.error());
    account_.add(meter, *times);
    ++states_moved_;
    files_removed_ += parameters().remove_read ? 1 : 0;
    return {};
  }

  [[nodiscard]] Status revolve_to(std::uint64_t step, Meter& meter, Spent& spent) {
    while (!revolve_->is_next(RevolveAction::Kind::turn, step)) {
      const RevolveAction action = *revolve_->next;
      if (auto status = act(action, meter, spent); !status) return status;
      revolve_->go_on();
    }
    revolve_->go_on();
    return {};
  }

  [[nodiscard]] Status act(const RevolveAction& action, Meter& meter, Spent& spent) {
    if (action.kind == RevolveAction::Kind::store) return store(action, meter, spent);
    if (action.kind == RevolveAction::Kind::restore) return restore(action, meter, spent);
    advance(action.step, meter, spent);
    return {};
  }

  [[nodiscard]] Status store(const RevolveAction& action, Meter& meter, Spent& spent) {
    const std::int64_t from = meter.clock_ns();
    fill(slot(0), action.step);
    spent.computed_ns += meter.clock_ns() - from;
    const auto times = files_.write({action.slot, slot(0), revolve_->written[action.slot], false}, clock_);
    if (!times) return fail(times.error());
    revolve_->written[action.slot] = true;
    account_.add(meter, *times);
    ++states_moved_;
    spent.moved_bytes += parameters().state_bytes;
    return {};
  }

  [[nodiscard]] Status restore(const RevolveAction& action, Meter& meter, Spent& spent) {
    if (auto status = read_now(action.slot, slot(0), meter); !status) return status;
    const std::int64_t from = meter.clock_ns();
    check(slot(0), action.step);
    spent.computed_ns += meter.clock_ns() - from;
    spent.moved_bytes += parameters().state_bytes;
    current_ = action.step;
    return {};
  }

  void advance(std::uint64_t step, Meter& meter, Spent& spent) {
    const std::int64_t from = meter.clock_ns();
    std::int64_t until = from;
    for (std::uint64_t next = *current_ + 1; next <= step; ++next) until += compute_.at_ns(next, 2);
    compute_until(until, meter);
    const std::int64_t took = meter.clock_ns() - from;
    account_.add(meter, StepPart::recompute, took);
    spent.computed_ns += took;
    steps_recomputed_ += step - *current_;
    current_ = step;
  }

  /// Checks what was read since the last batch was made ready.
  void check_batch() {
    for (std::uint64_t i = 0; i < unchecked_; ++i) check(slot(first_ + i), step_of(first_ + i));
    unchecked_ = 0;
  }

  StepOrder order_;
  std::int64_t opened_ns_ = 0;            // when the timer began
  std::uint64_t submitted_ = 0;           // operations whose states were asked for
  std::uint64_t unchecked_ = 0;           // states of the last batch that are in their buffers
  std::optional<std::uint64_t> current_;  // with revolve, the step whose state is at hand
};

}  // namespace

std::unique_ptr<PhaseWork> make_adjoint_phase(const StepfileState& state, RevolveState* revolve) {
  return std::make_unique<AdjointPhase>(state, revolve);
}

}  // namespace ullage
