// SPDX-License-Identifier: Apache-2.0
// AVX-512 and its extensions, all on ZMM registers.
#include <cstddef>
#include <cstdint>

#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__x86_64__)
// clang wants the target on every function with such registers in its assembler, g++ on the one that is called.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f"))), apply_to = function)
#endif
#include "compute/chain_loop.hpp"
#include "compute/kernels/x86_steps.hpp"
#if defined(__clang__)
#pragma clang attribute pop
#endif

namespace ullage::compute {
namespace {

using Zmm = long long __attribute__((vector_size(64)));

struct Avx512 {
  template <class Step, int chains>
  [[gnu::target("avx512f"), gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    chain_loop<Step, Zmm, chains>(data, passes, std::make_index_sequence<pairs_of(chains)>{});
  }
};

constexpr std::size_t width = sizeof(Zmm);

template <class Step>
Kernel kernel(const char* isa, ElementType type, Feature needs, int chains) {
  return {.isa = isa,
          .type = type,
          .needs = needs,
          .default_chains = chains,
          .variants = variants_of<Avx512, Step>(ChainsIn32{})};
}

template <class Step, class T, Operation operation>
Kernel lanes(ElementType type, Feature needs = features::avx512f, int chains = 12, const char* isa = "avx512") {
  Kernel made = kernel<Step>(isa, type, needs, chains);
  set_lanes<T, operation>(made, width / sizeof(T), width);
  return made;
}

template <class Step, class A, class B>
Kernel dots(const char* isa, ElementType type, Feature needs) {
  Kernel made = kernel<Step>(isa, type, needs, 12);
  set_dots<A, B>(made, width);
  return made;
}

std::vector<Kernel> avx512_kernels() {
  using enum ElementType;
  using enum Operation;
  return {
      lanes<VexAddFp32, float, add>(fp32),
      lanes<VexAddFp64, double, add>(fp64),
      lanes<VexMultiplyFp32, float, multiply>(fp32),
      lanes<VexMultiplyFp64, double, multiply>(fp64),
      lanes<VexFmaFp32, float, fma>(fp32),
      lanes<VexFmaFp64, double, fma>(fp64),
      lanes<VexAddInt8, std::uint8_t, add>(int8, features::avx512bw),
      lanes<VexAddInt16, std::uint16_t, add>(int16, features::avx512bw),
      lanes<VexAddInt32, std::uint32_t, add>(int32),
      lanes<VexAddInt64, std::uint64_t, add>(int64),
      lanes<VexMultiplyInt16, std::uint16_t, multiply>(int16, features::avx512bw),
      lanes<VexMultiplyInt32, std::uint32_t, multiply>(int32, features::avx512f, 20),
      lanes<EvexMultiplyInt64, std::uint64_t, multiply>(int64, features::avx512dq, 24),
      lanes<VexFmaFp16, Half, fma>(fp16, features::avx512fp16, 12, "avx512fp16"),
      dots<EvexDotInt8, std::uint8_t, std::int8_t>("avx512vnni", int8, features::avx512vnni),
      dots<EvexDotInt16, std::int16_t, std::int16_t>("avx512vnni", int16, features::avx512vnni),
      dots<EvexDotBf16, Bfloat, Bfloat>("avx512bf16", bf16, features::avx512bf16),
  };
}

}  // namespace
}  // namespace ullage::compute
#else
namespace ullage::compute {
namespace {
std::vector<Kernel> avx512_kernels() { return {}; }
}  // namespace
}  // namespace ullage::compute
#endif

namespace ullage::compute {
namespace {

const Registered<KernelSet> registered_avx512{{
    .description = {.name = "avx512", .doc = "Computes with vectors of 512 bits."},
    .instruction_sets = {{"avx512", 3}, {"avx512vnni", 5}, {"avx512fp16", 6}, {"avx512bf16", 7}},
    .kernels = avx512_kernels,
}};

}  // namespace
}  // namespace ullage::compute
