// SPDX-License-Identifier: Apache-2.0
// The adjoint phase of workload `stepfile`: get the state of a step, compute with it.
#pragma once

#include <optional>

#include "storage/workloads/stepfile/phase.hpp"
#include "storage/workloads/stepfile/revolve.hpp"

namespace ullage {

class AdjointPhase final : public StepPhase {
 public:
  AdjointPhase(const StepfileState& state, RevolveState* revolve);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  /// `turn_round_s`: see Turnaround.
  [[nodiscard]] Gauges gauges() const override;

 private:
  /// Says what a step has taken so far.
  struct Spent {
    std::int64_t computed_ns = 0;
    std::uint64_t moved_bytes = 0;
  };
  [[nodiscard]] Status drop_caches() const;
  [[nodiscard]] std::uint64_t step_of(std::uint64_t operation) const { return order_(operation); }
  [[nodiscard]] Status do_step(std::uint64_t operation, Meter& meter);
  [[nodiscard]] Status fetch(std::uint64_t operation, Meter& meter, Spent& spent);
  [[nodiscard]] Status await(std::uint64_t operation, Meter& meter);
  [[nodiscard]] Status read_now(std::uint64_t place, std::span<std::byte> data, Meter& meter);
  [[nodiscard]] Status revolve_to(std::uint64_t step, Meter& meter, Spent& spent);
  [[nodiscard]] Status act(const RevolveAction& action, Meter& meter, Spent& spent);
  [[nodiscard]] Status store(const RevolveAction& action, Meter& meter, Spent& spent);
  [[nodiscard]] Status restore(const RevolveAction& action, Meter& meter, Spent& spent);
  void advance(std::uint64_t step, Meter& meter, Spent& spent);
  void check_batch();

  StepOrder order_;
  std::int64_t opened_ns_ = 0;            // when the timer began
  std::uint64_t submitted_ = 0;           // operations whose states were asked for
  std::uint64_t unchecked_ = 0;           // states of the last batch that are in their buffers
  std::optional<std::uint64_t> current_;  // with revolve, the step whose state is at hand
};

}  // namespace ullage
