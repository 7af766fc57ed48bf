// SPDX-License-Identifier: Apache-2.0
// Which instructions may be used here: what the CPU has, what the kernel keeps over a context switch, and what it
// permits. Asked of the machine once; decided by a pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ullage::compute {

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

}  // namespace ullage::compute
