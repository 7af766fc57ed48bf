// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "storage/workloads/b_eff_io/buffers.hpp"
#include "storage/workloads/b_eff_io/loop.hpp"
#include "storage/workloads/b_eff_io/run.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// One pattern, `pattern-00` to `pattern-42`; an operation of the meter is one call. The first pattern of a case opens
/// its file, the last one closes it. Gauges: see BEffIoTimes; pattern_s is what a rank accounts, whose most over the
/// ranks is the time of the pattern.
class BEffIoPhase final : public PhaseWork {
 public:
  BEffIoPhase(BEffIoRun& run, std::size_t index);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override { return 1; }  // the loop is one to the runner
  [[nodiscard]] std::uint64_t prepare(std::uint64_t, std::uint64_t) override { return 1; }
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override { return parameters().writes(); }
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Status close() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Gauges gauges() const override { return times_.gauges(); }
  void add_facts(nlohmann::json& facts) const override;
  [[nodiscard]] Map hints_given() const override { return run_.hints_given(task_); }
  [[nodiscard]] Map hints_granted() const override { return hints_granted_; }

 private:
  [[nodiscard]] const BEffIoParameters& parameters() const { return run_.parameters(); }
  [[nodiscard]] bool verifies() const { return !parameters().writes() && parameters().verify == BEffIoVerify::full; }
  [[nodiscard]] double scheduled_s() const { return task_.pattern.units * parameters().unit_s; }
  void barrier();
  [[nodiscard]] std::optional<Error> mismatch() const;

  BEffIoRun& run_;
  const BEffIoTask& task_;
  const bool is_first_;
  const bool is_last_;
  BEffIoPlace place_;
  std::optional<BEffIoBuffers> buffers_;
  bool ready_ = false;  // the same on every rank: file and view are there
  BEffIoTimes times_;
  BEffIoFound found_;
  BEffIoEnd end_ = BEffIoEnd::none;
  std::uint64_t done_ = 0;  // by this rank; by every rank once they have agreed
  Map hints_granted_;
};

}  // namespace ullage
