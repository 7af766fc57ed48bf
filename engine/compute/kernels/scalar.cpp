// SPDX-License-Identifier: Apache-2.0
// One lane an instruction, as a loop that was not vectorised runs.
#include <cstddef>
#include <cstdint>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

namespace ullage::compute {
namespace {

#if defined(__x86_64__)
constexpr Feature fused = features::fma3;

struct Add {
  [[gnu::always_inline]] static void step(float& x, float /*a*/, float b) {
    asm volatile("addss %1, %0" : "+x"(x) : "x"(b));
  }
  [[gnu::always_inline]] static void step(double& x, double /*a*/, double b) {
    asm volatile("addsd %1, %0" : "+x"(x) : "x"(b));
  }
  [[gnu::always_inline]] static void step(std::uint32_t& x, std::uint32_t /*a*/, std::uint32_t b) {
    asm volatile("addl %1, %0" : "+r"(x) : "r"(b));
  }
  [[gnu::always_inline]] static void step(std::uint64_t& x, std::uint64_t /*a*/, std::uint64_t b) {
    asm volatile("addq %1, %0" : "+r"(x) : "r"(b));
  }
};
struct Multiply {
  [[gnu::always_inline]] static void step(float& x, float /*a*/, float b) {
    asm volatile("mulss %1, %0" : "+x"(x) : "x"(b));
  }
  [[gnu::always_inline]] static void step(double& x, double /*a*/, double b) {
    asm volatile("mulsd %1, %0" : "+x"(x) : "x"(b));
  }
  [[gnu::always_inline]] static void step(std::uint32_t& x, std::uint32_t /*a*/, std::uint32_t b) {
    asm volatile("imull %1, %0" : "+r"(x) : "r"(b));
  }
  [[gnu::always_inline]] static void step(std::uint64_t& x, std::uint64_t /*a*/, std::uint64_t b) {
    asm volatile("imulq %1, %0" : "+r"(x) : "r"(b));
  }
};
struct Fma {
  [[gnu::always_inline]] static void step(float& x, float a, float b) {
    asm volatile("vfmadd231ss %2, %1, %0" : "+x"(x) : "x"(a), "x"(b));
  }
  [[gnu::always_inline]] static void step(double& x, double a, double b) {
    asm volatile("vfmadd231sd %2, %1, %0" : "+x"(x) : "x"(a), "x"(b));
  }
};
#elif defined(__aarch64__)
constexpr Feature fused = features::always;

struct Add {
  [[gnu::always_inline]] static void step(float& x, float /*a*/, float b) {
    asm volatile("fadd %s0, %s0, %s1" : "+w"(x) : "w"(b));
  }
  [[gnu::always_inline]] static void step(double& x, double /*a*/, double b) {
    asm volatile("fadd %d0, %d0, %d1" : "+w"(x) : "w"(b));
  }
  [[gnu::always_inline]] static void step(std::uint32_t& x, std::uint32_t /*a*/, std::uint32_t b) {
    asm volatile("add %w0, %w0, %w1" : "+r"(x) : "r"(b));
  }
  [[gnu::always_inline]] static void step(std::uint64_t& x, std::uint64_t /*a*/, std::uint64_t b) {
    asm volatile("add %0, %0, %1" : "+r"(x) : "r"(b));
  }
};
struct Multiply {
  [[gnu::always_inline]] static void step(float& x, float /*a*/, float b) {
    asm volatile("fmul %s0, %s0, %s1" : "+w"(x) : "w"(b));
  }
  [[gnu::always_inline]] static void step(double& x, double /*a*/, double b) {
    asm volatile("fmul %d0, %d0, %d1" : "+w"(x) : "w"(b));
  }
  [[gnu::always_inline]] static void step(std::uint32_t& x, std::uint32_t /*a*/, std::uint32_t b) {
    asm volatile("mul %w0, %w0, %w1" : "+r"(x) : "r"(b));
  }
  [[gnu::always_inline]] static void step(std::uint64_t& x, std::uint64_t /*a*/, std::uint64_t b) {
    asm volatile("mul %0, %0, %1" : "+r"(x) : "r"(b));
  }
};
struct Fma {
  [[gnu::always_inline]] static void step(float& x, float a, float b) {
    asm volatile("fmadd %s0, %s1, %s2, %s0" : "+w"(x) : "w"(a), "w"(b));
  }
  [[gnu::always_inline]] static void step(double& x, double a, double b) {
    asm volatile("fmadd %d0, %d1, %d2, %d0" : "+w"(x) : "w"(a), "w"(b));
  }
};
#endif

#if defined(__x86_64__) || defined(__aarch64__)
template <class T>
struct Scalar {
  template <class Step, int chains>
  [[gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    chain_loop<Step, T, chains>(data, passes, std::make_index_sequence<pairs_of(chains)>{});
  }
};

/// General registers also hold two operands, the passes and where the data is.
using ChainsOfIntegers = std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 10>;

template <class Step, class T, Operation operation>
Kernel lane(ElementType type, Feature needs = features::always) {
  Kernel made;
  made.isa = "scalar";
  made.type = type;
  made.needs = needs;
  if constexpr (std::is_integral_v<T>) {
    made.default_chains = 10;
    made.variants = variants_of<Scalar<T>, Step>(ChainsOfIntegers{});
  } else {
    made.default_chains = 12;
    made.variants = variants_of<Scalar<T>, Step>(ChainsIn16{});
  }
  set_lanes<T, operation>(made, 1, sizeof(T));
  return made;
}
#endif

std::vector<Kernel> scalar_kernels() {
#if defined(__x86_64__) || defined(__aarch64__)
  using enum ElementType;
  using enum Operation;
  return {
      lane<Add, float, add>(fp32),
      lane<Add, double, add>(fp64),
      lane<Multiply, float, multiply>(fp32),
      lane<Multiply, double, multiply>(fp64),
      lane<Fma, float, fma>(fp32, fused),
      lane<Fma, double, fma>(fp64, fused),
      lane<Add, std::uint32_t, add>(int32),
      lane<Add, std::uint64_t, add>(int64),
      lane<Multiply, std::uint32_t, multiply>(int32),
      lane<Multiply, std::uint64_t, multiply>(int64),
  };
#else
  return {};
#endif
}

const Registered<KernelSet> registered_scalar{{
    .description = {.name = "scalar", .doc = "Computes one value at a time in the ordinary registers."},
    .instruction_sets = {{"scalar", 0}},
    .kernels = scalar_kernels,
}};

}  // namespace
}  // namespace ullage::compute
