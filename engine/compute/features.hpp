// SPDX-License-Identifier: Apache-2.0
// What the kernels of more than one file need of a CPU. Sources: Intel SDM volume 2A, CPUID; volume 1, 13 to 15 and 18
// (detection); Linux arch/arm64/include/uapi/asm/hwcap.h.
#pragma once

#include "compute/isa.hpp"

namespace ullage::compute::features {

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

}  // namespace ullage::compute::features
