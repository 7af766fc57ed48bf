// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels share. Included by tests only.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <stdexcept>

#include "compute/kernel.hpp"

namespace ullage::compute::test {

/// The bytes that belong to the chains of a variant.
inline std::span<const std::byte> compared(const Kernel& kernel, const Variant& variant,
                                           const Accumulators& accumulators) {
  return std::span(accumulators).first(static_cast<std::size_t>(variant.chains) * kernel.accumulator_bytes);
}

/// Every number of chains, one pass and several, against the reference, bit for bit.
inline void expect_right(const Kernel& kernel) {
  const auto data = std::make_unique<KernelData>();
  kernel.seed(*data);
  for (const Variant& variant : kernel.variants)
    for (const std::uint64_t passes : {1U, 17U}) {
      data->results.fill(std::byte{0xaa});
      variant.function(*data, passes);
      Accumulators expected{};
      kernel.reference(*data, variant.chains, passes * static_cast<std::uint64_t>(variant.steps_a_pass), expected);
      EXPECT_TRUE(std::ranges::equal(compared(kernel, variant, data->results), compared(kernel, variant, expected)))
          << kernel.name() << " with " << variant.chains << " chains, " << passes << " passes";
    }
}

/// Those that this machine can run. How many that were.
inline std::size_t expect_all_right(const std::vector<Kernel>& kernels) {
  std::size_t run = 0;
  for (const Kernel& kernel : kernels) {
    if (why_missing_here(kernel)) continue;
    expect_right(kernel);
    ++run;
  }
  return run;
}

/// Those of one file.
inline std::vector<Kernel> kernels_of(const std::string& set) {
  return Registry<KernelSet>::instance().find(set)->kernels();
}

/// The kernel of that name; throws where there is none.
inline const Kernel& named(const std::vector<Kernel>& kernels, const std::string& name) {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  if (found == kernels.end()) throw std::out_of_range(name);
  return *found;
}

}  // namespace ullage::compute::test
