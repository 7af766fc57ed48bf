// SPDX-License-Identifier: Apache-2.0
// The table of kernels: operands, seeds and counts. That they are right is in kernels/*_test.cpp.
#include "compute/kernel.hpp"

#include <gtest/gtest.h>

#include <set>

#include "compute/reference.hpp"
#include "compute/test_support.hpp"

namespace ullage::kernel_test {

using compute::Accumulators;
using compute::all_kernels;
using compute::ElementType;
using compute::Kernel;
using compute::KernelData;
using compute::Operation;
using compute::Variant;

TEST(ComputeKernels, AKernelThatDoesNothingWouldBeFound) {
  for (const Kernel& kernel : all_kernels()) {
    const auto data = std::make_unique<KernelData>();
    kernel.seed(*data);
    const Variant& variant = *kernel.variant(0);
    Accumulators expected{};
    kernel.reference(*data, variant.chains,
                     kernel.passes_a_stretch(variant) * static_cast<std::uint64_t>(variant.steps_a_pass), expected);
    const auto seeds = compute::test::compared(kernel, variant, data->seeds);
    const auto results = compute::test::compared(kernel, variant, expected);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < seeds.size(); ++i) changed += seeds[i] != results[i] ? 1U : 0U;
    EXPECT_GE(changed, seeds.size() / 4) << kernel.name();
  }
}

template <class T>
void expect_bounded(const Kernel& kernel) {
  const auto data = std::make_unique<KernelData>();
  kernel.seed(*data);
  Accumulators expected{};
  kernel.reference(*data, 1, kernel.steps_a_stretch, expected);
  for (std::size_t lane = 0; lane < kernel.accumulator_bytes / sizeof(T); ++lane) {
    const double value = std::abs(compute::as_double(compute::load<T>(expected, lane)));
    EXPECT_LE(value, 0x1p24) << kernel.name();
    EXPECT_GE(value, kernel.operation == Operation::dot ? 0 : 0x1p-13) << kernel.name();  // no denormal of any type
  }
}

TEST(ComputeKernels, ValuesStayBoundedForAWholeStretch) {
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.type == ElementType::fp64) expect_bounded<double>(kernel);
    if (kernel.type == ElementType::fp32 || kernel.type == ElementType::bf16) expect_bounded<float>(kernel);
    if (kernel.type == ElementType::fp16) expect_bounded<compute::Half>(kernel);
  }
}

TEST(ComputeKernels, ChainsDiffer) {
  for (const Kernel& kernel : all_kernels()) {
    const auto data = std::make_unique<KernelData>();
    kernel.seed(*data);
    const auto chains = static_cast<std::size_t>(kernel.variant(0)->chains);
    std::set<std::vector<std::byte>> seeds;
    for (std::size_t chain = 0; chain < chains; ++chain) {
      const auto own = std::span(data->seeds).subspan(chain * kernel.accumulator_bytes, kernel.accumulator_bytes);
      seeds.emplace(own.begin(), own.end());
    }
    EXPECT_EQ(seeds.size(), chains) << kernel.name();
  }
}

TEST(ComputeKernels, TableIsSound) {
  std::set<std::string> names;
  for (const Kernel& kernel : all_kernels()) {
    EXPECT_TRUE(names.insert(kernel.name()).second) << kernel.name() << " twice";
    EXPECT_NE(kernel.variant(0), nullptr) << kernel.name();
    EXPECT_NE(kernel.variant(1), nullptr) << kernel.name();
    EXPECT_EQ(kernel.variant(5), nullptr) << kernel.name();
    for (const Variant& variant : kernel.variants) {
      EXPECT_EQ(variant.steps_a_pass % 2, 0) << kernel.name();
      EXPECT_GE(variant.steps_a_pass * variant.chains, 48) << kernel.name();
      EXPECT_LE(static_cast<std::size_t>(variant.chains) * kernel.accumulator_bytes, compute::most_accumulator_bytes);
    }
  }
}

TEST(ComputeKernels, PortableOnesAreAlwaysThere) {
  for (const auto type : {ElementType::fp32, ElementType::fp64, ElementType::int32, ElementType::int64})
    for (const auto operation : {Operation::add, Operation::multiply}) {
      const Kernel* kernel = compute::find_kernel("portable", type, operation);
      ASSERT_NE(kernel, nullptr);
      EXPECT_FALSE(compute::why_missing_here(*kernel));
    }
}

TEST(ComputeKernels, OperationsCountTwoForFusedOnes) {
  const Kernel* fused = compute::find_kernel("avx512", ElementType::fp64, Operation::fma);
  const Kernel* tiles = compute::find_kernel("amx", ElementType::int8, Operation::dot);
  const Kernel* sums = compute::find_kernel("portable", ElementType::fp64, Operation::add);
  EXPECT_EQ(sums->operations(), 1);
  if (built_for() != Architecture::x86_64) GTEST_SKIP() << "the others are x86-64's";
  EXPECT_EQ(fused->name(), "avx512/fp64/fma");
  EXPECT_EQ(fused->operations(), 16);
  EXPECT_EQ(tiles->operations(), 16 * 16 * 64 * 2);
}

}  // namespace ullage::kernel_test
