// SPDX-License-Identifier: Apache-2.0
// Phases `epoch-1`, `epoch-2` ... of workload `loader`: every sample is read once, at the pace of the accelerators.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/workers.hpp"
#include "storage/workloads/loader/accelerator.hpp"
#include "storage/workloads/loader/loader_state.hpp"
#include "work/phase_work.hpp"

namespace ullage {

class EpochPhase final : public PhaseWork {
 public:
  /// `epoch` from 0. The totals in `state` go on with it.
  EpochPhase(LoaderState& state, std::uint64_t epoch);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  [[nodiscard]] Gauges gauges() const override;
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return state_.context->backend->hints_granted(); }

 private:
  [[nodiscard]] const LoaderParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool drops() const { return epoch_ == 0 && parameters().cache == LoaderCache::advise; }
  /// Every node drops all files that are read, whoever wrote them: earlier repetitions have read them anywhere.
  [[nodiscard]] Status drop_caches() const;
  void check_all(Accelerator& accelerator, Meter& progress, Verification& verification) const;

  LoaderState& state_;
  std::uint64_t epoch_;
  TrainingAccount account_;
  std::vector<std::unique_ptr<Accelerator>> accelerators_;
  Workers threads_;  // one an accelerator
};

}  // namespace ullage
