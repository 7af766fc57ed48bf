// SPDX-License-Identifier: Apache-2.0
// Plain C++, for any CPU: what this build's compiler makes of `x + b`, `x * b` and std::fma, one lane a step.
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

namespace ullage::compute {
namespace {

// Says that a value changed, so that steps are neither summed up nor put together into vectors. The constraint is that
// of a register of its type.
template <std::integral T>
[[gnu::always_inline]] inline void hide(T& value) {
  asm volatile("" : "+r"(value));
}
template <std::floating_point T>
[[gnu::always_inline]] inline void hide(T& value) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(value));
#elif defined(__aarch64__)
  asm volatile("" : "+w"(value));
#elif defined(__riscv) || defined(__powerpc64__) || defined(__s390x__) || defined(__loongarch__)
  asm volatile("" : "+f"(value));
#else
  asm volatile("" : "+m"(value));
#endif
}

struct Add {
  template <class T>
  [[gnu::always_inline]] static void step(T& x, const T& /*a*/, const T& b) {
    x += b;
    hide(x);
  }
};

struct Multiply {
  template <class T>
  [[gnu::always_inline]] static void step(T& x, const T& /*a*/, const T& b) {
    x *= b;
    hide(x);
  }
};

struct Fma {
  template <class T>
  [[gnu::always_inline]] static void step(T& x, const T& a, const T& b) {
    x = std::fma(a, b, x);
    hide(x);
  }
};

template <class T>
struct Portable {
  template <class Step, int chains>
  [[gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    chain_loop<Step, T, chains>(data, passes, std::make_index_sequence<pairs_of(chains)>{});
  }
};

using Chains = std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 10, 12>;

template <class Step, class T, Operation operation>
Kernel lane(ElementType type) {
  Kernel made{.isa = "portable",
              .type = type,
              .default_chains = std::integral<T> ? 10 : 12,  // x86-64 has 16 general registers, some in use
              .variants = variants_of<Portable<T>, Step>(Chains{})};
  set_lanes<T, operation>(made, 1, sizeof(T));
  return made;
}

std::vector<Kernel> portable_kernels() {
  using enum ElementType;
  using enum Operation;
  std::vector<Kernel> kernels{
      lane<Add, float, add>(fp32),
      lane<Add, double, add>(fp64),
      lane<Multiply, float, multiply>(fp32),
      lane<Multiply, double, multiply>(fp64),
      lane<Add, std::uint32_t, add>(int32),
      lane<Add, std::uint64_t, add>(int64),
      lane<Multiply, std::uint32_t, multiply>(int32),
      lane<Multiply, std::uint64_t, multiply>(int64),
  };
#if defined(FP_FAST_FMA) && defined(FP_FAST_FMAF)  // else it is a call of a function that may compute it in integers
  kernels.push_back(lane<Fma, float, fma>(fp32));
  kernels.push_back(lane<Fma, double, fma>(fp64));
#endif
  return kernels;
}

const Registered<KernelSet> registered_portable{{
    .description = {.name = "portable", .doc = "Uses the instructions that the compiler chooses for any CPU."},
    .instruction_sets = {{"portable", 11}},
    .kernels = portable_kernels,
}};

}  // namespace
}  // namespace ullage::compute
