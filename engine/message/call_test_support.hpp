// SPDX-License-Identifier: Apache-2.0
// What the tests of workloads share whose ranks call MPI together. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "run/phase_runner.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage::test {

/// Workloads as the engine checks and runs them.
class MpiCalls : public ::testing::Test {
 protected:
  MpiCalls() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    context_.world = &world_;
    context_.run_key = 17;
  }

  [[nodiscard]] static const WorkloadEntry& entry(const std::string& name) {
    return *Registry<WorkloadEntry>::instance().find(name);
  }
  /// Why a plan for so many ranks is refused; empty: it is not.
  [[nodiscard]] static std::string refusal(const std::string& name, int ranks, const Values& given) {
    const auto all = complete(entry(name).description.parameters, given, "/p");
    PlannedLayout layout;
    layout.ranks = ranks;
    const Status status = all ? entry(name).check(*all, {}, layout, "/p") : fail(all.error());
    return status ? "" : to_line(status.error());
  }
  /// `records_` then has what was measured in each phase, on rank 0. The status is the last phase's.
  [[nodiscard]] PhaseStatus run(const std::string& name, const Values& given) {
    const auto workload = std::get<MessageWork>(entry(name).work)
                              .make(complete(entry(name).description.parameters, given, "").value(), {context_});
    PhaseStatus status = begin_together(*workload, world_.all()).everywhere ? PhaseStatus::ok : PhaseStatus::failed;
    records_.clear();
    for (std::size_t i = 0; i < workload->phases() && status == PhaseStatus::ok; ++i) {
      const auto phase = workload->phase(i);
      Json& record = records_.emplace_back(Json::object());
      status = run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, *phase, record).status;
    }
    EXPECT_TRUE(end_together(*workload, true, world_.all()).everywhere);
    return status;
  }
  /// Windows as short as can be.
  [[nodiscard]] static Values brief(Values given) {
    given.try_emplace("windows", std::int64_t{2});
    given.try_emplace("window_s", 2e-5);
    given.try_emplace("warm_up_s", 0.0);
    return given;
  }
  /// Of the only phase.
  [[nodiscard]] double gauge(const std::string& name, const std::string& over = "most") const {
    return records_.front()["gauges"][name][over].get<double>();
  }

  mpi::World world_;
  mpi::ClockSync clock_;
  Meter meter_;
  Watchdog watchdog_;
  WorkloadContext context_;
  std::vector<Json> records_;
};

}  // namespace ullage::test
