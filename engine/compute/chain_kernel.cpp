// SPDX-License-Identifier: Apache-2.0
#include "compute/chain_kernel.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace ullage::compute {

ChainKernel::ChainKernel(const Kernel& kernel, const Variant& variant, std::size_t threads)
    : kernel_(kernel), variant_(variant), passes_a_stretch_(kernel.passes_a_stretch(variant)), threads_(threads) {}

Status ChainKernel::make_ready(std::size_t thread) {
  Thread& own = threads_[thread];
  own.data = std::make_unique<KernelData>();
  kernel_.seed(*own.data);
  return {};
}

/// The short stretch, if any, comes first, so that there is much to compare after the last.
void ChainKernel::run(std::size_t thread, std::uint64_t passes) {
  Thread& own = threads_[thread];
  const std::uint64_t rest = passes % passes_a_stretch_;
  if (rest > 0) variant_.function(*own.data, rest);
  for (std::uint64_t done = rest; done < passes; done += passes_a_stretch_)
    variant_.function(*own.data, passes_a_stretch_);
  own.last_passes = passes >= passes_a_stretch_ ? passes_a_stretch_ : rest;
}

Status ChainKernel::check() {
  Accumulators expected{};
  std::uint64_t expected_after = 0;
  const std::size_t compared = static_cast<std::size_t>(variant_.chains) * kernel_.accumulator_bytes;
  for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
    const Thread& own = threads_[thread];
    if (own.last_passes != expected_after) {
      const std::uint64_t steps = own.last_passes * static_cast<std::uint64_t>(variant_.steps_a_pass);
      kernel_.reference(*own.data, variant_.chains, steps, expected);
      expected_after = own.last_passes;
    }
    const auto& found = own.data->results;
    const auto wrong =
        std::mismatch(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(compared), found.begin());
    if (wrong.second == found.begin() + static_cast<std::ptrdiff_t>(compared)) continue;
    const auto chain = static_cast<std::size_t>(wrong.second - found.begin()) / kernel_.accumulator_bytes;
    return fail(environment_error(
        kernel_.name(), "wrong result in chain " + std::to_string(chain) + " of thread " + std::to_string(thread)));
  }
  return {};
}

void ChainKernel::report(const WindowTotals& totals, Gauges& gauges) const {
  const double instructions = totals.all_passes() * variant_.chains * variant_.steps_a_pass;
  gauges["instructions"] = instructions;
  gauges["operations"] = instructions * kernel_.operations();
}

}  // namespace ullage::compute
