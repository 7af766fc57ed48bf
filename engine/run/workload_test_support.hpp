// SPDX-License-Identifier: Apache-2.0
// What the tests of workloads of a single phase share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "run/phase_runner.hpp"
#include "work/workload.hpp"

namespace ullage::test {

/// The workload `name` as a launch makes it, run once. Its phase's record is in `record`, on rank 0.
inline PhaseOutcome run_workload(const std::string& name, const Values& given, Json& record) {
  const mpi::World world;
  const mpi::ClockSync clock;
  Meter meter(StopFlags::instance().now());
  Watchdog watchdog({});
  const WorkloadEntry& entry = *Registry<WorkloadEntry>::instance().find(name);
  const auto values = complete(entry.description.parameters, given, "").value();
  const auto* messages = std::get_if<MessageWork>(&entry.work);
  const auto workload = messages != nullptr ? messages->make(values, {{&world, 0}})
                                            : std::get<ComputeWork>(entry.work).make(values, {{&world, 0}});
  EXPECT_TRUE(begin_together(*workload, world.all()).everywhere);
  EXPECT_EQ(workload->phases(), 1U);
  const auto phase = workload->phase(0);
  const PhaseOutcome outcome = run_phase({&world, &clock, &watchdog, &meter, {}, 0}, nullptr, *phase, record);
  EXPECT_TRUE(end_together(*workload, true, world.all()).everywhere);
  return outcome;
}

}  // namespace ullage::test
