// SPDX-License-Identifier: Apache-2.0
// 128-bit registers: SSE2 as every x86-64 has it, and what later CPUs can do at that width (SSE4.1's 32-bit multiply,
// FMA3).
#include <cstddef>
#include <cstdint>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__x86_64__)
#include "compute/kernels/x86_steps.hpp"

namespace ullage::compute {
namespace {

using Xmm = long long __attribute__((vector_size(16)));
constexpr std::size_t width = sizeof(Xmm);

struct SseAddFp32 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("addps %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseAddFp64 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("addpd %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseMultiplyFp32 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("mulps %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseMultiplyFp64 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("mulpd %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseAddInt8 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("paddb %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseAddInt16 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("paddw %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseAddInt32 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("paddd %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseAddInt64 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("paddq %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseMultiplyInt16 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("pmullw %1, %0" : "+x"(x) : "x"(b));
  }
};
struct SseMultiplyInt32 {
  [[gnu::always_inline]] static void step(Xmm& x, const Xmm& /*a*/, const Xmm& b) {
    asm volatile("pmulld %1, %0" : "+x"(x) : "x"(b));
  }
};

struct Sse {
  template <class Step, int chains>
  [[gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    chain_loop<Step, Xmm, chains>(data, passes, std::make_index_sequence<pairs_of(chains)>{});
  }
};

template <class Step, class T, Operation operation>
Kernel lanes(ElementType type, Feature needs = features::always) {
  Kernel made{.isa = "sse2",
              .type = type,
              .needs = needs,
              .default_chains = 12,
              .variants = variants_of<Sse, Step>(ChainsIn16{})};
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

}  // namespace
}  // namespace ullage::compute
#else
namespace ullage::compute {
namespace {
std::vector<Kernel> sse2_kernels() { return {}; }
}  // namespace
}  // namespace ullage::compute
#endif

namespace ullage::compute {
namespace {

const Registered<KernelSet> registered_sse2{{
    .description = {.name = "sse2", .doc = "Computes with vectors of 128 bits."},
    .instruction_sets = {{"sse2", 1}},
    .kernels = sse2_kernels,
}};

}  // namespace
}  // namespace ullage::compute
