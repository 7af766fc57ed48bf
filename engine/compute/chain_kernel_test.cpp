// SPDX-License-Identifier: Apache-2.0
#include "compute/chain_kernel.hpp"

#include <gtest/gtest.h>

namespace ullage::chain_kernel_test {
namespace {

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
}  // namespace ullage::chain_kernel_test
