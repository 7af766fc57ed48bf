// SPDX-License-Identifier: Apache-2.0
// Advanced SIMD of aarch64, 128-bit registers.
#include <cstddef>
#include <cstdint>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

namespace ullage::compute {
namespace {

#if defined(__aarch64__)

using Quad = long long __attribute__((vector_size(16)));
constexpr std::size_t width = sizeof(Quad);

ULLAGE_STEP(AddFp32, "w", "fadd %0.4s, %0.4s, %1.4s");
ULLAGE_STEP(AddFp64, "w", "fadd %0.2d, %0.2d, %1.2d");
ULLAGE_STEP(MultiplyFp32, "w", "fmul %0.4s, %0.4s, %1.4s");
ULLAGE_STEP(MultiplyFp64, "w", "fmul %0.2d, %0.2d, %1.2d");
ULLAGE_FUSED_STEP(FmaFp32, "w", "fmla %0.4s, %1.4s, %2.4s");
ULLAGE_FUSED_STEP(FmaFp64, "w", "fmla %0.2d, %1.2d, %2.2d");
ULLAGE_FUSED_STEP(FmaFp16, "w", ".arch_extension fp16\n\tfmla %0.8h, %1.8h, %2.8h");
ULLAGE_STEP(AddInt8, "w", "add %0.16b, %0.16b, %1.16b");
ULLAGE_STEP(AddInt16, "w", "add %0.8h, %0.8h, %1.8h");
ULLAGE_STEP(AddInt32, "w", "add %0.4s, %0.4s, %1.4s");
ULLAGE_STEP(AddInt64, "w", "add %0.2d, %0.2d, %1.2d");
ULLAGE_STEP(MultiplyInt16, "w", "mul %0.8h, %0.8h, %1.8h");
ULLAGE_STEP(MultiplyInt32, "w", "mul %0.4s, %0.4s, %1.4s");
struct DotInt8 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& a, const Quad& b) {
#if defined(__ARM_FEATURE_DOTPROD)
    asm volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(x) : "w"(a), "w"(b));
#else  // for the GNU assembler the extension alone is not enough
    asm volatile(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(x) : "w"(a), "w"(b));
#endif
  }
};

template <class Step>
Kernel kernel(ElementType type, Feature needs) {
  return {.isa = "neon",
          .type = type,
          .needs = needs,
          .default_chains = 16,  // four pipes, latencies of four cycles
          .variants = variants_of<EveryCpu<Quad>, Step>(ChainsIn32{})};
}

template <class Step, class T, Operation operation>
Kernel lanes(ElementType type, Feature needs = features::neon) {
  Kernel made = kernel<Step>(type, needs);
  set_lanes<T, operation>(made, width / sizeof(T), width);
  return made;
}

std::vector<Kernel> neon_kernels() {
  using enum ElementType;
  using enum Operation;
  std::vector<Kernel> kernels{
      lanes<AddFp32, float, add>(fp32),
      lanes<AddFp64, double, add>(fp64),
      lanes<MultiplyFp32, float, multiply>(fp32),
      lanes<MultiplyFp64, double, multiply>(fp64),
      lanes<FmaFp32, float, fma>(fp32),
      lanes<FmaFp64, double, fma>(fp64),
      lanes<FmaFp16, Half, fma>(fp16, features::neon_fp16),
      lanes<AddInt8, std::uint8_t, add>(int8),
      lanes<AddInt16, std::uint16_t, add>(int16),
      lanes<AddInt32, std::uint32_t, add>(int32),
      lanes<AddInt64, std::uint64_t, add>(int64),
      lanes<MultiplyInt16, std::uint16_t, multiply>(int16),
      lanes<MultiplyInt32, std::uint32_t, multiply>(int32),
  };
  kernels.push_back(kernel<DotInt8>(int8, features::neon_dot));
  set_dots<std::int8_t, std::int8_t>(kernels.back(), width);
  return kernels;
}

#else
std::vector<Kernel> neon_kernels() { return {}; }
#endif

const Registered<KernelSet> registered_neon{{
    .description = {.name = "neon", .doc = "Computes with Arm vectors of 128 bits."},
    .instruction_sets = {{"neon", 9}},
    .kernels = neon_kernels,
}};

}  // namespace
}  // namespace ullage::compute
