// SPDX-License-Identifier: Apache-2.0
// Workload `compute`: the rate at which cores do one instruction, by independent chains of it in registers.
#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compute/chain_kernel.hpp"
#include "compute/kernel.hpp"
#include "work/entry.hpp"
#include "work/windowed_phase.hpp"

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
