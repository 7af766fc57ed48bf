// SPDX-License-Identifier: Apache-2.0
// What the tests of phases and of workloads without storage share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include "run/phase_runner.hpp"
#include "storage/backend.hpp"
#include "work/entry.hpp"

namespace ullage::test {

/// Holds what a launch has, and workloads as the engine checks and runs them.
class Launch {
 public:
  static constexpr std::size_t all_phases = std::numeric_limits<std::size_t>::max();

  Launch() {
    StopFlags::instance().reset();
    context_.world = &world_;
    context_.run_key = 11;
  }

  [[nodiscard]] static const WorkloadEntry& entry(const std::string& name) {
    return *Registry<WorkloadEntry>::instance().find(name);
  }
  /// Why a plan with these parameters for so many ranks is refused; empty: it is not.
  [[nodiscard]] static std::string refusal(const std::string& name, const Values& given, int ranks = 1) {
    const auto values = complete(entry(name).description.parameters, given, "/p");
    PlannedLayout layout;
    layout.ranks = ranks;
    const Status status = values ? entry(name).check(*values, {}, layout, "/p") : fail(values.error());
    return status ? "" : to_line(status.error());
  }
  /// Returns the same parameters, with windows as short as can be.
  [[nodiscard]] static Values brief(Values given) {
    given.try_emplace("windows", 2);
    given.try_emplace("window_s", 1e-4);
    given.try_emplace("warm_up_s", 0.0);
    return given;
  }

  /// `record_` is then the phase's, on rank 0.
  PhaseOutcome run_phase(PhaseWork& work) {
    record_ = Json::object();
    return ullage::run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, work, record_);
  }
  /// The first phases, or all, until one does not end well. `records_` has all of their records, `record_` the last.
  PhaseStatus run(const std::string& name, const Values& given, std::size_t most_phases = all_phases) {
    records_.clear();
    const auto values = complete(entry(name).description.parameters, given, "/p");
    const auto workload = std::get<WorkWithoutStorage>(entry(name).work).make(values.value(), context_);
    PhaseStatus status = begin_together(*workload, world_.all()).everywhere ? PhaseStatus::ok : PhaseStatus::failed;
    for (std::size_t i = 0; i < std::min(workload->phases(), most_phases) && status == PhaseStatus::ok; ++i) {
      const auto phase = workload->phase(i);
      status = run_phase(*phase).status;
      records_.push_back(record_);
    }
    EXPECT_TRUE(end_together(*workload, status == PhaseStatus::ok, world_.all()).everywhere);
    return status;
  }
  /// Over the ranks: sum, least or most.
  [[nodiscard]] double gauge(const std::string& name, const std::string& over = "most") const {
    return record_["gauges"].at(name).at(over).get<double>();
  }
  [[nodiscard]] double gauge(std::size_t phase, const std::string& name, const std::string& over) const {
    return records_.at(phase)["gauges"].at(name).at(over).get<double>();
  }

  mpi::World world_;
  mpi::CommonClock clock_;
  Meter meter_{StopFlags::instance().now()};
  Watchdog watchdog_{{}};
  WorkloadContext context_;
  Json record_;
  std::vector<Json> records_;
};

/// The workload `name`, run once; `record` is then that of its last phase, on rank 0.
inline PhaseStatus run_workload(const std::string& name, const Values& given, Json& record) {
  Launch launch;
  const PhaseStatus status = launch.run(name, given);
  record = std::move(launch.record_);
  return status;
}

class MpiLaunch : public ::testing::Test, public Launch {};

}  // namespace ullage::test
