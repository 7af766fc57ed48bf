// SPDX-License-Identifier: Apache-2.0
// One lane an instruction, as a loop that was not vectorised runs.
#include <cstdint>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

namespace ullage::compute {
namespace {

#if defined(__x86_64__)
constexpr Feature fused = features::fma3;

ULLAGE_STEP(AddFp32, "x", "addss %1, %0");
ULLAGE_STEP(AddFp64, "x", "addsd %1, %0");
ULLAGE_STEP(AddInt32, "r", "addl %1, %0");
ULLAGE_STEP(AddInt64, "r", "addq %1, %0");
ULLAGE_STEP(MultiplyFp32, "x", "mulss %1, %0");
ULLAGE_STEP(MultiplyFp64, "x", "mulsd %1, %0");
ULLAGE_STEP(MultiplyInt32, "r", "imull %1, %0");
ULLAGE_STEP(MultiplyInt64, "r", "imulq %1, %0");
ULLAGE_FUSED_STEP(FmaFp32, "x", "vfmadd231ss %2, %1, %0");
ULLAGE_FUSED_STEP(FmaFp64, "x", "vfmadd231sd %2, %1, %0");
#elif defined(__aarch64__)
constexpr Feature fused = features::always;

ULLAGE_STEP(AddFp32, "w", "fadd %s0, %s0, %s1");
ULLAGE_STEP(AddFp64, "w", "fadd %d0, %d0, %d1");
ULLAGE_STEP(AddInt32, "r", "add %w0, %w0, %w1");
ULLAGE_STEP(AddInt64, "r", "add %0, %0, %1");
ULLAGE_STEP(MultiplyFp32, "w", "fmul %s0, %s0, %s1");
ULLAGE_STEP(MultiplyFp64, "w", "fmul %d0, %d0, %d1");
ULLAGE_STEP(MultiplyInt32, "r", "mul %w0, %w0, %w1");
ULLAGE_STEP(MultiplyInt64, "r", "mul %0, %0, %1");
ULLAGE_FUSED_STEP(FmaFp32, "w", "fmadd %s0, %s1, %s2, %s0");
ULLAGE_FUSED_STEP(FmaFp64, "w", "fmadd %d0, %d1, %d2, %d0");
#endif

#if defined(__x86_64__) || defined(__aarch64__)
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
    made.variants = variants_of<EveryCpu<T>, Step>(ChainsOfIntegers{});
  } else {
    made.default_chains = 12;
    made.variants = variants_of<EveryCpu<T>, Step>(ChainsIn16{});
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
      lane<AddFp32, float, add>(fp32),
      lane<AddFp64, double, add>(fp64),
      lane<MultiplyFp32, float, multiply>(fp32),
      lane<MultiplyFp64, double, multiply>(fp64),
      lane<FmaFp32, float, fma>(fp32, fused),
      lane<FmaFp64, double, fma>(fp64, fused),
      lane<AddInt32, std::uint32_t, add>(int32),
      lane<AddInt64, std::uint64_t, add>(int64),
      lane<MultiplyInt32, std::uint32_t, multiply>(int32),
      lane<MultiplyInt64, std::uint64_t, multiply>(int64),
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
