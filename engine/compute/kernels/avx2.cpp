// SPDX-License-Identifier: Apache-2.0
// AVX2 with FMA3, and AVX-VNNI, on YMM registers.
#include <cstddef>
#include <cstdint>

#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__x86_64__)
// clang wants the target on every function with such registers in its assembler, g++ on the one that is called.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#endif
#include "compute/chain_loop.hpp"
#include "compute/kernels/x86_steps.hpp"
#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace ullage::compute {
namespace {

using Ymm = long long __attribute__((vector_size(32)));

struct Avx2 {
  template <class Step, int chains>
  [[gnu::target("avx2"), gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    chain_loop<Step, Ymm, chains>(data, passes, std::make_index_sequence<pairs_of(chains)>{});
  }
};

constexpr std::size_t width = sizeof(Ymm);

template <class Step>
Kernel kernel(const char* isa, ElementType type, Feature needs) {
  return {.isa = isa,
          .type = type,
          .needs = needs,
          .default_chains = 12,
          .variants = variants_of<Avx2, Step>(ChainsIn16{})};
}

template <class Step, class T, Operation operation>
Kernel lanes(ElementType type, Feature needs = features::avx2) {
  Kernel made = kernel<Step>("avx2", type, needs);
  set_lanes<T, operation>(made, width / sizeof(T), width);
  return made;
}

template <class Step, class A, class B>
Kernel dots(ElementType type) {
  Kernel made = kernel<Step>("avxvnni", type, features::avxvnni);
  set_dots<A, B>(made, width);
  return made;
}

std::vector<Kernel> avx2_kernels() {
  using enum ElementType;
  using enum Operation;
  return {
      lanes<VexAddFp32, float, add>(fp32),
      lanes<VexAddFp64, double, add>(fp64),
      lanes<VexMultiplyFp32, float, multiply>(fp32),
      lanes<VexMultiplyFp64, double, multiply>(fp64),
      lanes<VexFmaFp32, float, fma>(fp32, features::fma3),
      lanes<VexFmaFp64, double, fma>(fp64, features::fma3),
      lanes<VexAddInt8, std::uint8_t, add>(int8),
      lanes<VexAddInt16, std::uint16_t, add>(int16),
      lanes<VexAddInt32, std::uint32_t, add>(int32),
      lanes<VexAddInt64, std::uint64_t, add>(int64),
      lanes<VexMultiplyInt16, std::uint16_t, multiply>(int16),
      lanes<VexMultiplyInt32, std::uint32_t, multiply>(int32),
      dots<VexDotInt8, std::uint8_t, std::int8_t>(int8),
      dots<VexDotInt16, std::int16_t, std::int16_t>(int16),
  };
}

}  // namespace
}  // namespace ullage::compute
#else
namespace ullage::compute {
namespace {
std::vector<Kernel> avx2_kernels() { return {}; }
}  // namespace
}  // namespace ullage::compute
#endif

namespace ullage::compute {
namespace {

const Registered<KernelSet> registered_avx2{{
    .description = {.name = "avx2", .doc = "Computes with vectors of 256 bits."},
    .instruction_sets = {{"avx2", 2}, {"avxvnni", 4}},
    .kernels = avx2_kernels,
}};

}  // namespace
}  // namespace ullage::compute
