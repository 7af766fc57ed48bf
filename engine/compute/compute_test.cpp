// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "compute/compute.hpp"
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
  EXPECT_EQ(refusal(with(portable, "chains", 7)),
            "/p/chains: must be one of 0, 1, 2, 3, 4, 6, 8, 10, 12 with portable/fp64/add");
  EXPECT_FALSE(complete(entry().description.parameters, with(portable, "chains", 25), "/p"));
}

class MpiCompute : public test::MpiLaunch {};

TEST_F(MpiCompute, RunsItsWindowsAndCounts) {
  const Values given = with(with(portable, "type", std::string("int64")), "windows", 3);
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

using compute::ChainKernel;
using compute::ElementType;
using compute::Operation;

class ComputeChainKernel : public ::testing::Test {
 protected:
  void make_ready() {
    for (std::size_t thread = 0; thread < 2; ++thread) ASSERT_TRUE(chains_.make_ready(thread));
  }
  void run(std::uint64_t passes) {
    for (std::size_t thread = 0; thread < 2; ++thread) chains_.run(thread, passes);
  }

  const compute::Kernel& kernel_ = *compute::find_kernel("portable", ElementType::fp64, Operation::multiply);
  const compute::Variant& variant_ = *kernel_.variant(4);
  const std::uint64_t stretch_ = kernel_.passes_a_stretch(variant_);
  ChainKernel chains_{kernel_, variant_, 2};
};

TEST_F(ComputeChainKernel, AnyNumberOfPassesIsRight) {
  make_ready();
  for (const std::uint64_t passes : {std::uint64_t{1}, stretch_ - 1, stretch_, stretch_ + 1, 3 * stretch_}) {
    run(passes);
    EXPECT_TRUE(chains_.check()) << passes;
  }
}

TEST_F(ComputeChainKernel, OneWrongBitIsFoundAndItsPlaceSaid) {
  make_ready();
  run(stretch_ + 5);
  chains_.data(1).results[3 * 8 + 2] ^= std::byte{1};
  const Status found = chains_.check();
  ASSERT_FALSE(found);
  EXPECT_EQ(to_line(found.error()), "portable/fp64/multiply: wrong result in chain 3 of thread 1");
}

TEST_F(ComputeChainKernel, ThreadThatDidLessIsFound) {
  make_ready();
  run(stretch_);
  chains_.data(0).results = chains_.data(0).seeds;
  EXPECT_FALSE(chains_.check());
}

TEST_F(ComputeChainKernel, ReportsWhatAllThreadsDid) {
  WindowTotals totals;
  totals.passes = 10;
  totals.threads = 2;
  Gauges gauges;
  chains_.report(totals, gauges);
  EXPECT_EQ(gauges["instructions"], 10.0 * 2 * 4 * variant_.steps_a_pass);
  EXPECT_EQ(gauges["operations"], gauges["instructions"] * kernel_.operations());
}

}  // namespace

}  // namespace ullage::compute_test
