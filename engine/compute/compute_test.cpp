// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/signals.hpp"
#include "compute/kernel.hpp"
#include "run/phase_runner.hpp"
#include "storage/backend.hpp"
#include "work/workload.hpp"

namespace ullage::compute_test {
namespace {

const WorkloadEntry& entry() { return *Registry<WorkloadEntry>::instance().find("compute"); }

Values values(const Values& given) { return complete(entry().description.parameters, given, "/p").value(); }

std::string refusal(const Values& given) {
  const Status status = entry().check(values(given), {}, {}, "/p");
  return status ? "" : to_line(status.error());
}

const Values portable{
    {"isa", std::string("portable")}, {"type", std::string("fp64")}, {"operation", std::string("add")}};

Values with(Values given, const std::string& name, Value value) {
  given[name] = std::move(value);
  return given;
}

TEST(ComputeWorkload, EveryKernelIsEitherRunnableOrMissingWithAReason) {
  const auto& words = entry().description.capabilities;
  EXPECT_FALSE(entry().works_on_storage());
  EXPECT_EQ(words.size(), compute::all_kernels().size());
  EXPECT_TRUE(std::ranges::find(words, "kernel:portable/fp64/add:lanes=1:ops=1") != words.end());
  for (const auto& word : words) EXPECT_EQ(word.find('\n'), std::string::npos);
}

TEST(ComputeWorkload, WhatCannotRunIsRefusedWithOneLine) {
  EXPECT_EQ(refusal(portable), "");
  EXPECT_EQ(
      refusal(with(portable, "operation", std::string("dot"))),
      "/p: there is no kernel portable/fp64/dot in this build; `ullage-engine describe compute` lists those there "
      "are");
  for (const auto& kernel : compute::all_kernels()) {
    const auto missing = compute::why_missing_here(kernel);
    const std::string name = kernel.name();
    const auto first = name.find('/');
    const auto second = name.rfind('/');
    const Values asked{{"isa", name.substr(0, first)},
                       {"type", name.substr(first + 1, second - first - 1)},
                       {"operation", name.substr(second + 1)}};
    EXPECT_EQ(refusal(asked), missing ? "/p/isa: kernel " + name + " cannot run here: " + *missing : "");
  }
}

TEST(ComputeWorkload, ChainsAreThoseTheKernelHas) {
  for (const std::int64_t chains : {0, 1, 2, 3, 4, 6, 8, 10, 12})
    EXPECT_EQ(refusal(with(portable, "chains", chains)), "");
  EXPECT_EQ(refusal(with(portable, "chains", std::int64_t{7})),
            "/p/chains: must be one of 0, 1, 2, 3, 4, 6, 8, 10, 12 with portable/fp64/add");
  EXPECT_FALSE(complete(entry().description.parameters, with(portable, "chains", std::int64_t{25}), "/p"));
}

class MpiCompute : public ::testing::Test {
 protected:
  MpiCompute() : meter_(StopFlags::instance().now()), watchdog_({}) {
    StopFlags::instance().reset();
    context_.world = &world_;
  }

  mpi::World world_;
  mpi::ClockSync clock_;
  Meter meter_;
  Watchdog watchdog_;
  WorkloadContext context_;
};

TEST_F(MpiCompute, RunsItsWindowsAndCounts) {
  const auto given = values({{"isa", std::string("portable")},
                             {"type", std::string("int64")},
                             {"operation", std::string("add")},
                             {"windows", std::int64_t{3}},
                             {"window_s", 0.001},
                             {"warm_up_s", 0.0}});
  const auto workload = std::get<ComputeWork>(entry().work).make(given, {context_});
  ASSERT_TRUE(begin_together(*workload, world_.all()).everywhere);
  ASSERT_EQ(workload->phases(), 1U);
  const auto phase = workload->phase(0);
  Json record;
  const PhaseOutcome outcome = run_phase({&world_, &clock_, &watchdog_, &meter_, {}, 0}, nullptr, *phase, record);
  EXPECT_EQ(outcome.status, PhaseStatus::ok);
  EXPECT_TRUE(end_together(*workload, true, world_.all()).everywhere);
  if (!world_.root()) return;
  EXPECT_EQ(record["phase"], "compute");
  EXPECT_EQ(record["operations"], 3 * world_.size());
  EXPECT_EQ(record["bad_blocks"], 0);
  const Json& gauges = record["gauges"];
  EXPECT_EQ(gauges["threads"]["sum"], world_.size());
  EXPECT_GT(gauges["instructions"]["least"].get<double>(), 0);
  EXPECT_EQ(gauges["operations"]["sum"], gauges["instructions"]["sum"]);  // an addition is one
}

}  // namespace
}  // namespace ullage::compute_test
