// SPDX-License-Identifier: Apache-2.0
// Workload `compute`: the rate at which cores do one instruction, by independent chains of it in registers.
#include "compute/compute.hpp"

#include <cstring>

#include "work/entry.hpp"

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

namespace ullage {
namespace {

using compute::Kernel;

struct ComputeParameters : WindowParameters {
  std::string isa = "scalar";
  compute::ElementType type = compute::ElementType::fp64;
  compute::Operation operation = compute::Operation::add;
  int chains = 0;

  [[nodiscard]] static Table<ComputeParameters> table() {
    using P = ComputeParameters;
    return joined<P>(
        Table<P>{choice("isa", &P::isa, compute::isa_words(),
                        "Choose the instruction set: sse2 is 128 bits wide, avx2 256 bits and avx512 512 bits."),
                 choice("type", &P::type, compute::type_words(),
                        "Choose the type of the values that are added or multiplied."),
                 choice("operation", &P::operation, compute::operation_words(),
                        "Choose the operation. An fma or dot (multiply, and add to a wider accumulator) counts as two "
                        "operations a lane."),
                 count("chains", &P::chains, {0, 24},
                       "Run this many independent chains of the instruction; 0 means as many as the kernel needs for "
                       "its highest rate.")},
        WindowParameters::table());
  }
};

/// One line for every kernel of this build: runs here, or why not.
std::vector<std::string> capabilities() {
  std::vector<std::string> words;
  for (const Kernel& kernel : compute::all_kernels()) {
    const auto missing = compute::why_missing_here(kernel);
    words.push_back(missing ? "missing:" + kernel.name() + ":" + *missing
                            : "kernel:" + kernel.name() + ":lanes=" + std::to_string(kernel.lanes) +
                                  ":ops=" + std::to_string(kernel.operations()));
  }
  return words;
}

std::string counts_of(const Kernel& kernel) {
  std::string counts = "0";
  for (const auto& variant : kernel.variants) counts += ", " + std::to_string(variant.chains);
  return counts;
}

std::string wanted_name(const ComputeParameters& parameters) {
  Kernel wanted;
  wanted.isa = parameters.isa;
  wanted.type = parameters.type;
  wanted.operation = parameters.operation;
  return wanted.name();
}

Status check(const ComputeParameters& parameters, const std::string& pointer) {
  const Kernel* kernel = compute::find_kernel(parameters.isa, parameters.type, parameters.operation);
  if (kernel == nullptr)
    return fail(bad_plan(pointer, "there is no kernel " + wanted_name(parameters) +
                                      " in this build; `ullage-engine describe compute` lists the kernels"));
  if (const auto missing = compute::why_missing_here(*kernel))
    return fail(bad_plan(pointer + "/isa", "kernel " + kernel->name() + " cannot run here: " + *missing));
  if (kernel->variant(parameters.chains) == nullptr)
    return fail(bad_plan(pointer + "/chains", "must be one of " + counts_of(*kernel) + " with " + kernel->name()));
  return {};
}

std::unique_ptr<Workload> make(const ComputeParameters& parameters, const WorkloadContext& context) {
  const Kernel& kernel = *compute::find_kernel(parameters.isa, parameters.type, parameters.operation);
  const auto threads = static_cast<std::size_t>(parameters.threads);
  return windowed_workload("compute", parameters, context,
                           std::make_unique<compute::ChainKernel>(kernel, *kernel.variant(parameters.chains), threads));
}

/// Made late, since it lists the kernels that other files register.
WorkloadEntry compute_entry() {
  return without_storage<ComputeParameters>({
      .name = "compute",
      .doc = "Measures the operations a second of cores: chains of one instruction in registers. It checks the results "
             "bit for bit.",
      .capabilities = capabilities(),
      .check = on_any_ranks(check),
      .make = make,
  });
}

const Registered<WorkloadEntry> registered_compute{compute_entry};

}  // namespace
}  // namespace ullage
