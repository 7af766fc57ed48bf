// SPDX-License-Identifier: Apache-2.0
// What the forward and the adjoint phase of workload `stepfile` have in common on one rank: buffers, contents,
// computation and helpers.
#pragma once

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/count.hpp"
#include "base/meter.hpp"
#include "base/permutation.hpp"
#include "mpi/comm.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/stepfile/revolve.hpp"
#include "storage/workloads/stepfile/step_files.hpp"

namespace ullage {

// What one rank's steps took, apart: the application's computation, the calls for states, and what of these the
// application had to wait for.

enum class StepPart { compute, recompute, open, transfer, sync, close, remove, wait, exposed };
inline constexpr std::size_t step_part_count = 9;

inline constexpr std::array<const char*, step_part_count> part_words{"compute", "recompute", "open", "transfer", "sync",
                                                                     "close",   "remove",    "wait", "exposed"};

[[nodiscard]] inline std::string word(StepPart part) { return part_words.at(static_cast<std::size_t>(part)); }

class StepAccount final {
 public:
  /// `parts`: those that this phase has; in the order of the enumeration.
  StepAccount(std::vector<StepPart> parts, std::uint64_t steps)
      : parts_(std::move(parts)),
        steps_(steps),
        steps_an_interval_((steps + most_intervals - 1) / most_intervals),
        interval_compute_ns_((steps + steps_an_interval_ - 1) / steps_an_interval_),
        interval_exposed_ns_(interval_compute_ns_.size()) {
    number_of_.fill(-1);
    for (std::size_t i = 0; i < parts_.size(); ++i)
      number_of_.at(static_cast<std::size_t>(parts_[i])) = static_cast<int>(i);
  }

  [[nodiscard]] std::vector<std::string> part_names() const {
    std::vector<std::string> names;
    names.reserve(parts_.size());
    for (const StepPart part : parts_) names.push_back(word(part));
    return names;
  }

  void add(Meter& meter, StepPart part, std::int64_t took_ns) {
    const int number = number_of_.at(static_cast<std::size_t>(part));
    if (number >= 0) meter.add_part(static_cast<std::size_t>(number), took_ns);
  }

  /// Adds one state: every part that the phase has.
  void add(Meter& meter, const StepTimes& times) {
    add(meter, StepPart::open, times.open_ns);
    add(meter, StepPart::transfer, times.transfer_ns);
    if (times.sync_ns > 0) add(meter, StepPart::sync, times.sync_ns);
    add(meter, StepPart::close, times.close_ns);
    add(meter, StepPart::remove, times.remove_ns);
  }

  /// Operation `step` has ended: what of it was no computation is exposed.
  void step_done(Meter& meter, std::uint64_t step, std::int64_t took_ns, std::int64_t computed_ns) {
    const std::int64_t exposed_ns = std::max<std::int64_t>(took_ns - computed_ns, 0);
    add(meter, StepPart::exposed, exposed_ns);
    computed_ns_ += computed_ns;
    exposed_ns_ += exposed_ns;
    interval_compute_ns_[step / steps_an_interval_] += static_cast<std::uint64_t>(computed_ns);
    interval_exposed_ns_[step / steps_an_interval_] += static_cast<std::uint64_t>(exposed_ns);
  }

  /// This rank's.
  [[nodiscard]] double compute_s() const { return static_cast<double>(computed_ns_) * 1e-9; }
  [[nodiscard]] double exposed_s() const { return static_cast<double>(exposed_ns_) * 1e-9; }

  /// Collective: the timeline becomes that of all ranks.
  void share(const mpi::Comm& all) {
    all.sum_all(interval_compute_ns_);
    all.sum_all(interval_exposed_ns_);
  }

  /// Steps in intervals, with the sums over all ranks.
  [[nodiscard]] nlohmann::json timeline() const {
    return {{"steps", steps_},
            {"steps_an_interval", steps_an_interval_},
            {"compute_ns", interval_compute_ns_},
            {"exposed_ns", interval_exposed_ns_}};
  }

 private:
  static constexpr std::uint64_t most_intervals = 128;
  std::vector<StepPart> parts_;
  std::array<int, step_part_count> number_of_{};  // as the meter numbers them; -1: the phase has no such part
  std::uint64_t steps_;
  std::uint64_t steps_an_interval_;
  std::vector<std::uint64_t> interval_compute_ns_;
  std::vector<std::uint64_t> interval_exposed_ns_;
  std::int64_t computed_ns_ = 0;
  std::int64_t exposed_ns_ = 0;
};

// How long the application computes at each step. Pure.

/// `step_s` a step on rank 0; the last rank takes `imbalance` of it longer, the others between them in proportion. Each
/// step varies evenly by up to `jitter` of that, up and down, another way on each rank.
class ComputeTime final {
 public:
  ComputeTime(double step_s, double jitter, double imbalance, std::uint64_t rank, std::uint64_t ranks) noexcept
      : step_ns_(step_s * 1e9 *
                 (1 + (ranks > 1 ? imbalance * static_cast<double>(rank) / static_cast<double>(ranks - 1) : 0))),
        jitter_(jitter),
        key_(mix64(rank)) {}

  [[nodiscard]] bool none() const noexcept { return step_ns_ == 0; }
  /// The time of one pass through the step; `pass` 0 is the forward's, 1 the adjoint's, others compute it again.
  [[nodiscard]] std::int64_t at_ns(std::uint64_t step, std::uint64_t pass) const noexcept {
    if (jitter_ == 0) return std::llround(step_ns_);
    const double even = static_cast<double>(mix64(mix64(key_ + step) + pass) >> 11U) * 0x1p-53;
    return std::llround(step_ns_ * (1 + jitter_ * (2 * even - 1)));
  }

 private:
  double step_ns_;
  double jitter_;
  std::uint64_t key_;
};

/// Binomial checkpointing goes on from the forward phase to the adjoint.
struct RevolveState {
  Revolve actions;
  std::optional<RevolveAction> next;
  std::vector<bool> written;  // slots that have a file

  RevolveState(std::uint64_t steps, std::uint64_t checkpoints)
      : actions(steps, checkpoints), next(actions.next()), written(checkpoints) {}
  void go_on() { next = actions.next(); }
  [[nodiscard]] bool is_next(RevolveAction::Kind kind, std::uint64_t step) const {
    return next && next->kind == kind && next->step == step;
  }
};

inline constexpr std::uint64_t most_step_helpers = 64;

inline PayloadSpec payload_of(const StepfileState& state) {
  return {.run_key = state.context->run_key, .transfer_bytes = state.parameters->state_bytes};
}

/// The parts of this phase, in the order of the enumeration.
inline std::vector<StepPart> with_common(std::vector<StepPart> parts, bool computes, std::uint64_t depth) {
  if (computes) parts.push_back(StepPart::compute);
  if (depth > 0) parts.push_back(StepPart::wait);
  parts.push_back(StepPart::exposed);
  std::ranges::sort(parts);
  return parts;
}

class StepPhase : public PhaseWork {
 public:
  [[nodiscard]] PhaseInfo info() const override {
    return {.name = direction_ == Direction::write ? "forward" : "adjoint",
            .access = direction_ == Direction::write ? Access::write : Access::read,
            .clock_stops = !works_inline(),
            .bytes_at_once = parameters().state_bytes * (depth_ + 1),
            .parts = account_.part_names()};
  }

  [[nodiscard]] Status before() override {
    for (std::size_t tier = 0; tier < state_.tiers->size(); ++tier) {
      Status status = state_.tiers->at(tier).backend->make_ready(state_.context->buffer->bytes(), {});
      if (!status) return status;
    }
    return {};
  }

  [[nodiscard]] std::uint64_t operations() const override { return parameters().steps; }

  [[nodiscard]] Status execute(Meter& meter) override {
    Status status;
    for (std::uint64_t operation = first_; operation < first_ + prepared_; ++operation) {
      status = do_step(operation, meter);
      if (!status || !meter.goes_on()) break;
    }
    if (!status || !meter.goes_on()) drain(&meter, status);
    return status;
  }

  [[nodiscard]] Counters counters() const override {
    return {{"states", states_moved_}, {"files_removed", files_removed_}, {"steps_recomputed", steps_recomputed_}};
  }

  [[nodiscard]] Gauges gauges() const override {
    return {{"compute_s", account_.compute_s()}, {"exposed_s", account_.exposed_s()}};
  }

  void add_facts(Json& facts) const override {
    facts["timeline"] = account_.timeline();
    if (states_at_.size() < 2) return;
    facts["tiers"] = Json::array();
    for (std::size_t tier = 0; tier < states_at_.size(); ++tier)
      facts["tiers"].push_back({{"target", state_.tiers->at(tier).target}, {"states", states_at_[tier]}});
  }

  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }

 protected:
  /// `parts`: what the phase has besides computation and what is exposed.
  StepPhase(const StepfileState& state, RevolveState* revolve, Direction direction, std::uint64_t depth,
            std::vector<StepPart> parts)
      : state_(state),
        revolve_(revolve),
        direction_(direction),
        depth_(depth),
        compute_(parameters().compute_s, parameters().jitter, parameters().imbalance, state.rank(),
                 static_cast<std::uint64_t>(state.context->world->size())),
        payload_(payload_of(state)),
        files_(state),
        account_(with_common(std::move(parts), works_inline(), depth), parameters().steps),
        slots_(*state.context->buffer, parameters().state_bytes,
               std::max(buffer_alignment, state.capabilities.alignment_bytes)) {
    slots_.allocate(works_inline() ? depth + 1 : slots_.count_in(cached_bytes, parameters().steps));
  }

  /// Does an operation and completes it on the meter.
  [[nodiscard]] virtual Status do_step(std::uint64_t operation, Meter& meter) = 0;

  [[nodiscard]] const StepfileParameters& parameters() const { return *state_.parameters; }
  /// States are made and checked while the application computes; else between batches, when the clock stands still.
  [[nodiscard]] bool works_inline() const { return depth_ > 0 || parameters().revolves() || !compute_.none(); }
  [[nodiscard]] bool verifies() const { return parameters().verify == Verify::full; }
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t operation) const { return slots_[operation]; }

  void fill(std::span<std::byte> data, std::uint64_t step) const {
    payload_.fill(data, state_.rank(), step * parameters().state_bytes);
  }

  /// Also makes the buffer one that nothing was read into.
  void check(std::span<std::byte> data, std::uint64_t step) {
    if (!verifies()) return;
    const std::uint64_t at = step * parameters().state_bytes;
    add_check(verification_, data.size(), payload_.check(data, state_.rank(), at), [&](Mismatch wrong) {
      wrong.offset_bytes -= at;
      const std::uint64_t place = parameters().revolves() ? 0 : step;
      Error error = wrong_data(state_.tiers->of(place), state_.file_of(place), wrong);
      error.text = "the state of rank " + std::to_string(state_.rank()) + " at step " + std::to_string(step) +
                   " differs from what was written";
      return error;
    });
    Payload::poison(data);
  }

  /// Computes until `until_ns` of the meter's clock.
  static void compute_until(std::int64_t until_ns, Meter& meter) {
    constexpr std::int64_t now_and_then_ns = 100'000'000;
    std::int64_t told_ns = meter.clock_ns();
    for (std::int64_t now = told_ns; now < until_ns; now = meter.clock_ns()) {
      if (now - told_ns < now_and_then_ns) continue;
      meter.report_alive();
      told_ns = now;
    }
  }

  /// Prepares the names of operations [first, first + count), where this is done between batches.
  void name_ahead(std::uint64_t first, std::uint64_t count,
                  const std::function<std::uint64_t(std::uint64_t)>& place_of) {
    std::vector<std::uint64_t> places(count);
    for (std::uint64_t i = 0; i < count; ++i) places[i] = place_of(first + i);
    files_.name_ahead(places);
  }

  /// Helpers for this phase, where it has a depth.
  [[nodiscard]] Status start_helpers(StepHelpers::Job job) {
    if (depth_ == 0) return {};
    const auto served = static_cast<std::uint64_t>(state_.capabilities.file_threads);
    const std::uint64_t most = parameters().in_log() ? 1 : std::min(served, most_step_helpers);
    helpers_ = std::make_unique<StepHelpers>(static_cast<std::size_t>(slots_.count()), std::move(job));
    return helpers_->start(static_cast<std::size_t>(std::min(depth_, most)));
  }

  /// Collective, after the timer: where the states of all ranks are.
  void share() {
    states_at_.assign(state_.tiers->size(), 0);
    for (std::uint64_t place = 0; place < parameters().kept(); ++place) ++states_at_[state_.tiers->tier_of(place)];
    account_.share(state_.context->world->all());
    state_.context->world->all().sum_all(states_at_);
  }

  /// Waits for all that is under way; the first error is kept.
  void drain(Meter* meter, Status& first) {
    if (!helpers_) return;
    for (std::uint64_t i = 0; i < slots_.count(); ++i)
      take(helpers_->wait(i,
                          [meter] {
                            if (meter != nullptr) meter->report_alive();
                          }),
           meter, first);
  }

  /// Takes what a helper has done into the account.
  void take(const std::optional<StepHelpers::Outcome>& outcome, Meter* meter, Status& first) {
    if (!outcome) return;
    if (!*outcome) return keep_first(first, fail(outcome->error()));
    ++states_moved_;
    if (meter != nullptr) account_.add(*meter, **outcome);
  }

  const StepfileState& state_;
  RevolveState* revolve_;
  Direction direction_;
  std::uint64_t depth_;
  ComputeTime compute_;
  Payload payload_;
  StepFiles files_;
  HelperClock clock_;
  StepAccount account_;
  Verification verification_;
  std::uint64_t states_moved_ = 0;
  std::uint64_t files_removed_ = 0;
  std::uint64_t steps_recomputed_ = 0;
  std::vector<std::uint64_t> states_at_;  // each target, of all ranks
  BufferRing slots_;
  std::unique_ptr<StepHelpers> helpers_;  // last: they use the others
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_adjoint_phase(const StepfileState& state, RevolveState* revolve);

[[nodiscard]] std::unique_ptr<PhaseWork> make_forward_phase(const StepfileState& state, RevolveState* revolve);

}  // namespace ullage
