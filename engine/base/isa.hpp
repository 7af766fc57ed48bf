// SPDX-License-Identifier: Apache-2.0
// Which instructions may be used here: what the CPU has, what the kernel keeps over a context switch, and what it
// permits. Asked of the machine once; decided by a pure function.
#pragma once

#include "base/std.hpp"

namespace ullage {

enum class Architecture { x86_64, aarch64, other };

[[nodiscard]] constexpr Architecture built_for() {
#if defined(__x86_64__)
  return Architecture::x86_64;
#elif defined(__aarch64__)
  return Architecture::aarch64;
#else
  return Architecture::other;
#endif
}

[[nodiscard]] std::string_view name_of(Architecture architecture);

/// Holds what the machine says of itself, uninterpreted. Fields of other architectures are zero.
struct RawCpu {
  Architecture architecture = Architecture::other;
  std::uint32_t leaf1_ecx = 0;  // CPUID
  std::uint32_t leaf7_ebx = 0;
  std::uint32_t leaf7_ecx = 0;
  std::uint32_t leaf7_edx = 0;
  std::uint32_t leaf7_1_eax = 0;
  std::uint64_t xcr0 = 0;        // XGETBV: register state that the kernel saves
  int amx_permission_errno = 0;  // of arch_prctl; 0: granted
  std::uint64_t hwcap = 0;       // of the auxiliary vector
};

constexpr std::uint64_t tile_state = 0x60000;  // of XCR0: XTILECFG (17), XTILEDATA (18)
constexpr std::uint32_t amx_tile = 1U << 24U;  // of leaf 7, EDX

/// A word of the above.
using CpuWord = std::uint64_t (*)(const RawCpu&);

/// One thing that instructions need: bits, all in one word, and the state the kernel has to keep for their registers.
struct Feature {
  std::string_view name;  // empty: any CPU this engine is built for has it
  Architecture architecture = built_for();
  CpuWord word = nullptr;
  std::uint64_t bits = 0;
  std::uint64_t state = 0;
};

/// Asks the machine; also asks the kernel for AMX tiles, where the CPU has them.
[[nodiscard]] RawCpu read_raw_cpu();

/// Why `feature` cannot be used on such a machine, for people; empty: it can.
[[nodiscard]] std::optional<std::string> why_missing(const Feature& feature, const RawCpu& cpu);

/// Whether `feature`, which needs no tiles, can be used on this machine. Not __builtin_cpu_supports: zig's answers no
/// to everything.
[[nodiscard]] bool cpu_has(const Feature& feature);

}  // namespace ullage

namespace ullage::features {

// What the kernels of more than one file need of a CPU. Sources: Intel SDM volume 2A, CPUID; volume 1, 13 to 15 and 18
// (detection); Linux arch/arm64/include/uapi/asm/hwcap.h.

constexpr std::uint64_t avx_state = 0x6;      // XMM and the upper halves of YMM
constexpr std::uint64_t avx512_state = 0xe6;  // and mask registers, upper halves of ZMM, ZMM16 to 31

constexpr std::uint64_t leaf1_ecx(const RawCpu& cpu) { return cpu.leaf1_ecx; }
constexpr std::uint64_t leaf7_ebx(const RawCpu& cpu) { return cpu.leaf7_ebx; }
constexpr std::uint64_t leaf7_ecx(const RawCpu& cpu) { return cpu.leaf7_ecx; }
constexpr std::uint64_t leaf7_edx(const RawCpu& cpu) { return cpu.leaf7_edx; }
constexpr std::uint64_t leaf7_1_eax(const RawCpu& cpu) { return cpu.leaf7_1_eax; }
constexpr std::uint64_t hwcap(const RawCpu& cpu) { return cpu.hwcap; }

inline constexpr Feature always{};
inline constexpr Feature sse41{"SSE4.1", Architecture::x86_64, leaf1_ecx, 1U << 19U, 0};
inline constexpr Feature fma3{"FMA3", Architecture::x86_64, leaf1_ecx, (1U << 12U) | (1U << 28U), avx_state};
inline constexpr Feature avx2{"AVX2", Architecture::x86_64, leaf7_ebx, 1U << 5U, avx_state};
inline constexpr Feature avxvnni{"AVX-VNNI", Architecture::x86_64, leaf7_1_eax, 1U << 4U, avx_state};
inline constexpr Feature avx512f{"AVX-512F", Architecture::x86_64, leaf7_ebx, 1U << 16U, avx512_state};
inline constexpr Feature avx512bw{"AVX-512BW", Architecture::x86_64, leaf7_ebx, (1U << 16U) | (1U << 30U),
                                  avx512_state};
inline constexpr Feature avx512dq{"AVX-512DQ", Architecture::x86_64, leaf7_ebx, (1U << 16U) | (1U << 17U),
                                  avx512_state};
inline constexpr Feature avx512vnni{"AVX512-VNNI", Architecture::x86_64, leaf7_ecx, 1U << 11U, avx512_state};
inline constexpr Feature avx512fp16{"AVX512-FP16", Architecture::x86_64, leaf7_edx, 1U << 23U, avx512_state};
inline constexpr Feature avx512bf16{"AVX512-BF16", Architecture::x86_64, leaf7_1_eax, 1U << 5U, avx512_state};
inline constexpr Feature amx_int8{"AMX-INT8", Architecture::x86_64, leaf7_edx, (1U << 25U) | amx_tile, tile_state};
inline constexpr Feature amx_bf16{"AMX-BF16", Architecture::x86_64, leaf7_edx, (1U << 22U) | amx_tile, tile_state};
inline constexpr Feature neon{"Advanced SIMD", Architecture::aarch64, hwcap, 1U << 1U, 0};
inline constexpr Feature neon_fp16{"half-precision Advanced SIMD", Architecture::aarch64, hwcap, 1U << 10U, 0};
inline constexpr Feature neon_dot{"Advanced SIMD dot products", Architecture::aarch64, hwcap, 1U << 20U, 0};
inline constexpr Feature sve{"SVE", Architecture::aarch64, hwcap, 1U << 22U, 0};

}  // namespace ullage::features
