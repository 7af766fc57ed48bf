// SPDX-License-Identifier: Apache-2.0
#include "compute/kernel.hpp"

#include <iterator>
#include <tuple>

namespace ullage::compute {

Words<ElementType> type_words() {
  return {
      {ElementType::int8, "int8"},   {ElementType::int16, "int16"}, {ElementType::int32, "int32"},
      {ElementType::int64, "int64"}, {ElementType::fp16, "fp16"},   {ElementType::bf16, "bf16"},
      {ElementType::fp32, "fp32"},   {ElementType::fp64, "fp64"},
  };
}

Words<Operation> operation_words() {
  return {{Operation::add, "add"}, {Operation::multiply, "multiply"}, {Operation::fma, "fma"}, {Operation::dot, "dot"}};
}

const Variant* Kernel::variant(int chains) const {
  const int wanted = chains == 0 ? default_chains : chains;
  const auto found = std::ranges::find(variants, wanted, &Variant::chains);
  return found == variants.end() ? nullptr : &*found;
}

std::string Kernel::name() const {
  return isa + "/" + detail::word_of(type_words(), type) + "/" + detail::word_of(operation_words(), operation);
}

Words<std::string> isa_words() {
  std::vector<KernelSet::InstructionSet> all;
  for (const KernelSet& set : Registry<KernelSet>::instance().all())
    all.insert(all.end(), set.instruction_sets.begin(), set.instruction_sets.end());
  std::ranges::sort(all, {}, [](const KernelSet::InstructionSet& set) { return std::tie(set.place, set.name); });
  Words<std::string> words;
  for (const auto& one : all) words.emplace_back(one.name, one.name);
  return words;
}

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> kernels = [] {
    std::vector<KernelSet> sets = Registry<KernelSet>::instance().all();
    std::ranges::sort(sets, {}, [](const KernelSet& set) {
      return std::tie(set.instruction_sets.front().place, set.description.name);
    });
    std::vector<Kernel> all;
    for (const KernelSet& set : sets) std::ranges::move(set.kernels(), std::back_inserter(all));
    return all;
  }();
  return kernels;
}

const Kernel* find_kernel(const std::string& isa, ElementType type, Operation operation) {
  const auto& kernels = all_kernels();
  const auto found = std::ranges::find_if(
      kernels, [&](const Kernel& k) { return k.isa == isa && k.type == type && k.operation == operation; });
  return found == kernels.end() ? nullptr : &*found;
}

std::optional<std::string> why_missing_here(const Kernel& kernel) {
  static const RawCpu cpu = read_raw_cpu();
  return why_missing(kernel.needs, cpu);
}

}  // namespace ullage::compute

namespace ullage {

template class Registry<compute::KernelSet>;
template struct Registered<compute::KernelSet>;

}  // namespace ullage
