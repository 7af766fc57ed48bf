// SPDX-License-Identifier: Apache-2.0
// The forward phase of workload `stepfile`: compute a step, keep its state.
#pragma once

#include "storage/workloads/stepfile/phase.hpp"

namespace ullage {

class ForwardPhase final : public StepPhase {
 public:
  ForwardPhase(const StepfileState& state, RevolveState* revolve);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override { return files_.open_log(OpenMode::create); }
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return parameters().sync == StepSync::close; }
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;

 private:
  [[nodiscard]] bool syncs(std::uint64_t step) const;
  [[nodiscard]] bool keeps(std::uint64_t step);
  [[nodiscard]] StepFiles::Write write_of(std::uint64_t step);
  [[nodiscard]] Status do_step(std::uint64_t step, Meter& meter);
  [[nodiscard]] Status hand_over(std::uint64_t step, Meter& meter);
  [[nodiscard]] Status write_now(std::uint64_t step, Meter& meter);

  std::int64_t computed_at_ns_ = 0;  // the last step
};

}  // namespace ullage
