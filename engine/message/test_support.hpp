// SPDX-License-Identifier: Apache-2.0
// What the tests of workloads that send messages share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "run/phase_runner.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage::test {

/// Workloads as the engine checks and runs them.
class MpiMessageWorkload : public ::testing::Test {
 protected:
  MpiMessageWorkload() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    context_.world = &world_;
    context_.run_key = 11;
  }

  [[nodiscard]] static const WorkloadEntry& entry(const std::string& name) {
    return *Registry<WorkloadEntry>::instance().find(name);
  }
  /// Why a plan with these parameters for so many ranks is refused; empty: it is not.
  [[nodiscard]] static std::string refusal(const std::string& name, const Values& given, int ranks) {
    const auto values = complete(entry(name).description.parameters, given, "/p");
    PlannedLayout layout;
    layout.ranks = ranks;
    const Status status = values ? entry(name).check(*values, {}, layout, "/p") : fail(values.error());
    return status ? "" : to_line(status.error());
  }
  /// The first phases, or all; records_ then has what was measured, on rank 0. False: one did not end well.
  [[nodiscard]] bool run(const std::string& name, const Values& given, std::size_t most_phases = 1000) {
    records_.clear();
    const auto values = complete(entry(name).description.parameters, given, "/p");
    const auto workload = std::get<MessageWork>(entry(name).work).make(values.value(), {context_});
    EXPECT_TRUE(begin_together(*workload, world_.all()).everywhere);
    bool good = true;
    for (std::size_t i = 0; i < std::min(workload->phases(), most_phases) && good; ++i) {
      const auto phase = workload->phase(i);
      Json& record = records_.emplace_back();
      good =
          run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, *phase, record).status == PhaseStatus::ok;
    }
    EXPECT_TRUE(end_together(*workload, good, world_.all()).everywhere);
    return good;
  }
  [[nodiscard]] double gauge(std::size_t phase, const std::string& name, const std::string& which) const {
    return records_.at(phase)["gauges"].at(name).at(which).get<double>();
  }

  mpi::World world_;
  mpi::ClockSync clock_;
  Meter meter_;
  Watchdog watchdog_;
  WorkloadContext context_;
  std::vector<Json> records_;
};

}  // namespace ullage::test
