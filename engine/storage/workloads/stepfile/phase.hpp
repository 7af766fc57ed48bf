// SPDX-License-Identifier: Apache-2.0
// What the forward and the adjoint phase of workload `stepfile` have in common on one rank: buffers, contents,
// computation and helpers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/payload.hpp"
#include "storage/workloads/stepfile/compute_time.hpp"
#include "storage/workloads/stepfile/revolve.hpp"
#include "storage/workloads/stepfile/step_account.hpp"
#include "storage/workloads/stepfile/step_files.hpp"
#include "storage/workloads/stepfile/step_helpers.hpp"
#include "work/phase_work.hpp"

namespace ullage {

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
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t operation);
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
  std::size_t slot_bytes_;
  std::uint64_t slots_;
  std::unique_ptr<StepHelpers> helpers_;  // last: they use the others
};

inline void keep_first_error(Status& first, const Status& next) {
  if (first && !next) first = next;
}

}  // namespace ullage
