// SPDX-License-Identifier: Apache-2.0
// Advanced SIMD of aarch64, 128-bit registers.
#include <cstddef>
#include <cstdint>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__aarch64__)
namespace ullage::compute {
namespace {

using Quad = long long __attribute__((vector_size(16)));
constexpr std::size_t width = sizeof(Quad);

struct AddFp32 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("fadd %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(b));
  }
};
struct AddFp64 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("fadd %0.2d, %0.2d, %1.2d" : "+w"(x) : "w"(b));
  }
};
struct MultiplyFp32 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("fmul %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(b));
  }
};
struct MultiplyFp64 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("fmul %0.2d, %0.2d, %1.2d" : "+w"(x) : "w"(b));
  }
};
struct FmaFp32 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& a, const Quad& b) {
    asm volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(x) : "w"(a), "w"(b));
  }
};
struct FmaFp64 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& a, const Quad& b) {
    asm volatile("fmla %0.2d, %1.2d, %2.2d" : "+w"(x) : "w"(a), "w"(b));
  }
};
struct FmaFp16 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& a, const Quad& b) {
    asm volatile(".arch_extension fp16\n\tfmla %0.8h, %1.8h, %2.8h" : "+w"(x) : "w"(a), "w"(b));
  }
};
struct AddInt8 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("add %0.16b, %0.16b, %1.16b" : "+w"(x) : "w"(b));
  }
};
struct AddInt16 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("add %0.8h, %0.8h, %1.8h" : "+w"(x) : "w"(b));
  }
};
struct AddInt32 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("add %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(b));
  }
};
struct AddInt64 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("add %0.2d, %0.2d, %1.2d" : "+w"(x) : "w"(b));
  }
};
struct MultiplyInt16 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("mul %0.8h, %0.8h, %1.8h" : "+w"(x) : "w"(b));
  }
};
struct MultiplyInt32 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& /*a*/, const Quad& b) {
    asm volatile("mul %0.4s, %0.4s, %1.4s" : "+w"(x) : "w"(b));
  }
};
struct DotInt8 {
  [[gnu::always_inline]] static void step(Quad& x, const Quad& a, const Quad& b) {
#if defined(__ARM_FEATURE_DOTPROD)
    asm volatile("sdot %0.4s, %1.16b, %2.16b" : "+w"(x) : "w"(a), "w"(b));
#else  // for the GNU assembler the extension alone is not enough
    asm volatile(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(x) : "w"(a), "w"(b));
#endif
  }
};

struct Neon {
  template <class Step, int chains>
  [[gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    chain_loop<Step, Quad, chains>(data, passes, std::make_index_sequence<pairs_of(chains)>{});
  }
};

template <class Step>
Kernel kernel(ElementType type, Feature needs) {
  return {.isa = "neon",
          .type = type,
          .needs = needs,
          .default_chains = 16,  // four pipes, latencies of four cycles
          .variants = variants_of<Neon, Step>(ChainsIn32{})};
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

}  // namespace
}  // namespace ullage::compute
#else
namespace ullage::compute {
namespace {
std::vector<Kernel> neon_kernels() { return {}; }
}  // namespace
}  // namespace ullage::compute
#endif

namespace ullage::compute {
namespace {

const Registered<KernelSet> registered_neon{{
    .description = {.name = "neon", .doc = "Computes with Arm vectors of 128 bits."},
    .instruction_sets = {{"neon", 9}},
    .kernels = neon_kernels,
}};

}  // namespace
}  // namespace ullage::compute
