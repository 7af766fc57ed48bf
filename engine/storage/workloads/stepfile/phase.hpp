// SPDX-License-Identifier: Apache-2.0
// What the forward and the adjoint phase of workload `stepfile` have in common on one rank: buffers, contents,
// computation and helpers.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/meter.hpp"
#include "base/payload.hpp"
#include "base/permutation.hpp"
#include "mpi/comm.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/workloads/stepfile/revolve.hpp"
#include "storage/workloads/stepfile/step_files.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// What one rank's steps took, apart: the application's computation, the calls for states, and what of these the
// application had to wait for.

enum class StepPart { compute, recompute, open, transfer, sync, close, remove, wait, exposed };
inline constexpr std::size_t step_part_count = 9;

class StepAccount final {
 public:
  /// `parts`: those that this phase has; in the order of the enumeration.
  StepAccount(std::vector<StepPart> parts, std::uint64_t steps);

  [[nodiscard]] std::vector<std::string> part_names() const;
  void add(Meter& meter, StepPart part, std::int64_t took_ns);
  /// Adds one state: every part that the phase has.
  void add(Meter& meter, const StepTimes& times);
  /// Operation `step` has ended: what of it was no computation is exposed.
  void step_done(Meter& meter, std::uint64_t step, std::int64_t took_ns, std::int64_t computed_ns);

  /// This rank's.
  [[nodiscard]] double compute_s() const { return static_cast<double>(computed_ns_) * 1e-9; }
  [[nodiscard]] double exposed_s() const { return static_cast<double>(exposed_ns_) * 1e-9; }

  /// Collective: the timeline becomes that of all ranks.
  void share(const mpi::Comm& all);
  /// Steps in intervals, with the sums over all ranks.
  [[nodiscard]] nlohmann::json timeline() const;

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

[[nodiscard]] std::string word(StepPart part);

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

class StepPhase : public PhaseWork {
 public:
  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return parameters().steps; }
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }

 protected:
  /// `parts`: what the phase has besides computation and what is exposed.
  StepPhase(const StepfileState& state, RevolveState* revolve, Direction direction, std::uint64_t depth,
            std::vector<StepPart> parts);

  [[nodiscard]] const StepfileParameters& parameters() const { return *state_.parameters; }
  /// States are made and checked while the application computes; else between batches, when the clock stands still.
  [[nodiscard]] bool works_inline() const { return depth_ > 0 || parameters().revolves() || !compute_.none(); }
  [[nodiscard]] bool verifies() const { return parameters().verify == StepVerify::full; }
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t operation) const { return slots_[operation]; }
  void fill(std::span<std::byte> data, std::uint64_t step) const;
  void check(std::span<std::byte> data, std::uint64_t step);
  /// Computes until `until_ns` of the meter's clock.
  static void compute_until(std::int64_t until_ns, Meter& meter);
  /// Prepares the names of operations [first, first + count), where this is done between batches.
  void name_ahead(std::uint64_t first, std::uint64_t count,
                  const std::function<std::uint64_t(std::uint64_t)>& place_of);
  /// Helpers for this phase, where it has a depth.
  [[nodiscard]] Status start_helpers(StepHelpers::Job job);
  /// Collective, after the timer: where the states of all ranks are.
  void share();
  /// Waits for all that is under way; the first error is kept.
  void drain(Meter* meter, Status& first);
  /// Takes what a helper has done into the account.
  void take(const std::optional<StepHelpers::Outcome>& outcome, Meter* meter, Status& first);

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
