// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "compute/kernel.hpp"
#include "run/workload_test_support.hpp"

namespace ullage::compute_test {
namespace {

const WorkloadEntry& entry() { return test::Launch::entry("compute"); }

std::string refusal(const Values& given) { return test::Launch::refusal("compute", given); }

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
      "/p: there is no kernel portable/fp64/dot in this build; `ullage-engine describe compute` lists the kernels");
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

class MpiCompute : public test::MpiLaunch {};

TEST_F(MpiCompute, RunsItsWindowsAndCounts) {
  const Values given = with(with(portable, "type", std::string("int64")), "windows", std::int64_t{3});
  ASSERT_EQ(run("compute", brief(given)), PhaseStatus::ok);
  EXPECT_EQ(records_.size(), 1U);
  if (!world_.root()) return;
  EXPECT_EQ(record_["phase"], "compute");
  EXPECT_EQ(record_["operations"], 3 * world_.size());
  EXPECT_EQ(record_["bad_blocks"], 0);
  const Json& gauges = record_["gauges"];
  EXPECT_EQ(gauges["threads"]["sum"], world_.size());
  EXPECT_GT(gauges["instructions"]["least"].get<double>(), 0);
  EXPECT_EQ(gauges["operations"]["sum"], gauges["instructions"]["sum"]);  // an addition is one
}

}  // namespace
}  // namespace ullage::compute_test
