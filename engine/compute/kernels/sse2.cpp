// SPDX-License-Identifier: Apache-2.0
// 128-bit registers: SSE2 as every x86-64 has it, and what later CPUs can do at that width (SSE4.1's 32-bit multiply,
// FMA3).
#include <cstddef>
#include <cstdint>

#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__x86_64__)
#include "compute/kernels/x86_steps.hpp"  // clang knows its registers on this architecture alone
#endif

namespace ullage::compute {
namespace {

#if defined(__x86_64__)
using Xmm = long long __attribute__((vector_size(16)));
constexpr std::size_t width = sizeof(Xmm);

ULLAGE_STEP(SseAddFp32, "x", "addps %1, %0");
ULLAGE_STEP(SseAddFp64, "x", "addpd %1, %0");
ULLAGE_STEP(SseMultiplyFp32, "x", "mulps %1, %0");
ULLAGE_STEP(SseMultiplyFp64, "x", "mulpd %1, %0");
ULLAGE_STEP(SseAddInt8, "x", "paddb %1, %0");
ULLAGE_STEP(SseAddInt16, "x", "paddw %1, %0");
ULLAGE_STEP(SseAddInt32, "x", "paddd %1, %0");
ULLAGE_STEP(SseAddInt64, "x", "paddq %1, %0");
ULLAGE_STEP(SseMultiplyInt16, "x", "pmullw %1, %0");
ULLAGE_STEP(SseMultiplyInt32, "x", "pmulld %1, %0");

template <class Step, class T, Operation operation>
Kernel lanes(ElementType type, Feature needs = features::always) {
  Kernel made{.isa = "sse2",
              .type = type,
              .needs = needs,
              .default_chains = 12,
              .variants = variants_of<EveryCpu<Xmm>, Step>(ChainsIn16{})};
  set_lanes<T, operation>(made, width / sizeof(T), width);
  return made;
}

std::vector<Kernel> sse2_kernels() {
  using enum ElementType;
  using enum Operation;
  return {
      lanes<SseAddFp32, float, add>(fp32),
      lanes<SseAddFp64, double, add>(fp64),
      lanes<SseMultiplyFp32, float, multiply>(fp32),
      lanes<SseMultiplyFp64, double, multiply>(fp64),
      lanes<VexFmaFp32, float, fma>(fp32, features::fma3),
      lanes<VexFmaFp64, double, fma>(fp64, features::fma3),
      lanes<SseAddInt8, std::uint8_t, add>(int8),
      lanes<SseAddInt16, std::uint16_t, add>(int16),
      lanes<SseAddInt32, std::uint32_t, add>(int32),
      lanes<SseAddInt64, std::uint64_t, add>(int64),
      lanes<SseMultiplyInt16, std::uint16_t, multiply>(int16),
      lanes<SseMultiplyInt32, std::uint32_t, multiply>(int32, features::sse41),
  };
}

#else
std::vector<Kernel> sse2_kernels() { return {}; }
#endif

const Registered<KernelSet> registered_sse2{{
    .description = {.name = "sse2", .doc = "Computes with vectors of 128 bits."},
    .instruction_sets = {{"sse2", 1}},
    .kernels = sse2_kernels,
}};

}  // namespace
}  // namespace ullage::compute
