// SPDX-License-Identifier: Apache-2.0
// SVE of aarch64: registers of 16 to 256 bytes, whose length only the CPU knows, so they are named in the assembler:
// accumulators in z0 to z7 and z16 to z27, a in z28, b in z29 and z30, all lanes on in p0. The compiler is told that
// the statements around the loop change them all; between those it has no vectors.
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compute/chain_loop.hpp"
#include "compute/kernel.hpp"
#include "compute/reference.hpp"

#if defined(__aarch64__)
namespace ullage::compute {
namespace {

/// z8 to z15 are left alone: a called function keeps their lower halves.
constexpr int number_of(std::size_t chain) { return static_cast<int>(chain < 8 ? chain : chain + 8); }

std::size_t vector_bytes() {
  std::uint64_t bytes = 0;
  // Volatile, or it may be executed before it is known to exist.
  asm volatile(".arch_extension sve\n\trdvl %0, #1" : "=r"(bytes));
  return bytes;
}

template <int number>
[[gnu::always_inline]] inline void load_vector(const std::byte* from) {
  asm volatile(".arch_extension sve\n\tldr z%c1, [%0]" : : "r"(from), "i"(number) : "memory");
}
template <int number>
[[gnu::always_inline]] inline void store_vector(std::byte* to) {
  asm volatile(".arch_extension sve\n\tstr z%c1, [%0]" : : "r"(to), "i"(number) : "memory");
}

/// `odd`: which of the two b.
struct FmaFp64 {
  template <int number, int odd>
  [[gnu::always_inline]] static void step() {
    asm volatile(".arch_extension sve\n\tfmla z%c0.d, p0/m, z28.d, z%c1.d" : : "i"(number), "i"(29 + odd));
  }
};
struct FmaFp32 {
  template <int number, int odd>
  [[gnu::always_inline]] static void step() {
    asm volatile(".arch_extension sve\n\tfmla z%c0.s, p0/m, z28.s, z%c1.s" : : "i"(number), "i"(29 + odd));
  }
};
struct FmaFp16 {
  template <int number, int odd>
  [[gnu::always_inline]] static void step() {
    asm volatile(".arch_extension sve\n\tfmla z%c0.h, p0/m, z28.h, z%c1.h" : : "i"(number), "i"(29 + odd));
  }
};

[[gnu::always_inline]] inline void own_registers() {
  asm volatile(".arch_extension sve\n\tptrue p0.b"
               :
               :
               : "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v20", "v21",
                 "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30");
}

template <class Step, std::size_t... chain, std::size_t... pair>
[[gnu::always_inline]] inline void vector_loop(KernelData& data, std::uint64_t passes, std::size_t width,
                                               std::index_sequence<chain...>, std::index_sequence<pair...>) {
  own_registers();
  (load_vector<number_of(chain)>(data.seeds.data() + chain * width), ...);
  load_vector<28>(data.a.data());
  load_vector<29>(data.b[0].data());
  load_vector<30>(data.b[1].data());
  for (; passes > 0; --passes)
    (((Step::template step<number_of(chain), 0>(), ...), (Step::template step<number_of(chain), 1>(), ...),
      static_cast<void>(pair)),
     ...);
  (store_vector<number_of(chain)>(data.results.data() + chain * width), ...);
}

struct Sve {
  template <class Step, int chains>
  [[gnu::noinline]] static void run(KernelData& data, std::uint64_t passes) {
    vector_loop<Step>(data, passes, vector_bytes(), std::make_index_sequence<chains>{},
                      std::make_index_sequence<pairs_of(chains)>{});
  }
};

template <class Step, class T>
Kernel fused(ElementType type, std::size_t width) {
  Kernel made{.isa = "sve",
              .type = type,
              .needs = features::sve,
              .default_chains = 16,
              .variants = variants_of<Sve, Step>(std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 10, 12, 16, 20>{})};
  set_lanes<T, Operation::fma>(made, width / sizeof(T), width);
  return made;
}

std::vector<Kernel> sve_kernels() {
  // Where there is none, what is shown as missing has the least length.
  const std::size_t width = why_missing(features::sve, read_raw_cpu()) ? 16 : vector_bytes();
  return {fused<FmaFp16, Half>(ElementType::fp16, width), fused<FmaFp32, float>(ElementType::fp32, width),
          fused<FmaFp64, double>(ElementType::fp64, width)};
}

}  // namespace
}  // namespace ullage::compute
#else
namespace ullage::compute {
namespace {
std::vector<Kernel> sve_kernels() { return {}; }
}  // namespace
}  // namespace ullage::compute
#endif

namespace ullage::compute {
namespace {

const Registered<KernelSet> registered_sve{{
    .description = {.name = "sve", .doc = "Computes with Arm vectors whose length the machine chooses."},
    .instruction_sets = {{"sve", 10}},
    .kernels = sve_kernels,
}};

}  // namespace
}  // namespace ullage::compute
