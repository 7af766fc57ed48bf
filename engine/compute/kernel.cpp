// SPDX-License-Identifier: Apache-2.0
#include "compute/kernel.hpp"

#include <algorithm>
#include <iterator>

namespace ullage::compute {

const Words<Isa>& isa_words() {
  static const Words<Isa> words{
      {Isa::scalar, "scalar"},
      {Isa::sse2, "sse2"},
      {Isa::avx2, "avx2"},
      {Isa::avx512, "avx512"},
      {Isa::avxvnni, "avxvnni"},
      {Isa::avx512vnni, "avx512vnni"},
      {Isa::avx512fp16, "avx512fp16"},
      {Isa::avx512bf16, "avx512bf16"},
      {Isa::amx, "amx"},
      {Isa::neon, "neon"},
      {Isa::sve, "sve"},
      {Isa::portable, "portable"},
  };
  return words;
}

const Words<ElementType>& type_words() {
  static const Words<ElementType> words{
      {ElementType::int8, "int8"},   {ElementType::int16, "int16"}, {ElementType::int32, "int32"},
      {ElementType::int64, "int64"}, {ElementType::fp16, "fp16"},   {ElementType::bf16, "bf16"},
      {ElementType::fp32, "fp32"},   {ElementType::fp64, "fp64"},
  };
  return words;
}

const Words<Operation>& operation_words() {
  static const Words<Operation> words{
      {Operation::add, "add"}, {Operation::multiply, "multiply"}, {Operation::fma, "fma"}, {Operation::dot, "dot"}};
  return words;
}

const Variant* Kernel::variant(int chains) const {
  const int wanted = chains == 0 ? default_chains : chains;
  const auto found = std::ranges::find(variants, wanted, &Variant::chains);
  return found == variants.end() ? nullptr : &*found;
}

std::string Kernel::name() const {
  return detail::word_of(isa_words(), isa) + "/" + detail::word_of(type_words(), type) + "/" +
         detail::word_of(operation_words(), operation);
}

const std::vector<Kernel>& all_kernels() {
  static const std::vector<Kernel> kernels = [] {
    std::vector<Kernel> all;
    for (const auto& part : {scalar_kernels, sse2_kernels, avx2_kernels, avx512_kernels, amx_kernels, neon_kernels,
                             sve_kernels, portable_kernels})
      std::ranges::move(part(), std::back_inserter(all));
    return all;
  }();
  return kernels;
}

const Kernel* find_kernel(Isa isa, ElementType type, Operation operation) {
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
