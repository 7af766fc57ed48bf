// SPDX-License-Identifier: Apache-2.0
#include "compute/isa.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ullage::compute {
namespace {

constexpr std::uint64_t avx_state = 0x6;       // XMM and the upper halves of YMM
constexpr std::uint64_t avx512_state = 0xe6;   // and mask registers, upper halves of ZMM, ZMM16 to 31
constexpr std::uint64_t tile_state = 0x60000;  // XTILECFG (17), XTILEDATA (18)
constexpr std::uint32_t amx_tile = 1U << 24U;  // in leaf 7, EDX
constexpr std::uint32_t osxsave = 1U << 27U;   // in leaf 1, ECX: XGETBV may be executed

enum class Word { leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_edx, leaf7_1_eax, hwcap };

/// Bits that a feature needs all of, all in one word, and the state the kernel has to keep for its registers.
struct Rule {
  Feature feature;
  Architecture architecture;
  std::string_view name;
  Word word;
  std::uint64_t bits;
  std::uint64_t state;
};

/// Sources: Intel SDM volume 2A, CPUID; volume 1, 13 to 15 and 18 (detection); Linux
/// arch/arm64/include/uapi/asm/hwcap.h.
constexpr std::array rules{
    Rule{Feature::sse41, Architecture::x86_64, "SSE4.1", Word::leaf1_ecx, 1U << 19U, 0},
    Rule{Feature::fma3, Architecture::x86_64, "FMA3", Word::leaf1_ecx, (1U << 12U) | (1U << 28U), avx_state},
    Rule{Feature::avx2, Architecture::x86_64, "AVX2", Word::leaf7_ebx, 1U << 5U, avx_state},
    Rule{Feature::avxvnni, Architecture::x86_64, "AVX-VNNI", Word::leaf7_1_eax, 1U << 4U, avx_state},
    Rule{Feature::avx512f, Architecture::x86_64, "AVX-512F", Word::leaf7_ebx, 1U << 16U, avx512_state},
    Rule{Feature::avx512bw, Architecture::x86_64, "AVX-512BW", Word::leaf7_ebx, (1U << 16U) | (1U << 30U),
         avx512_state},
    Rule{Feature::avx512dq, Architecture::x86_64, "AVX-512DQ", Word::leaf7_ebx, (1U << 16U) | (1U << 17U),
         avx512_state},
    Rule{Feature::avx512vnni, Architecture::x86_64, "AVX512-VNNI", Word::leaf7_ecx, 1U << 11U, avx512_state},
    Rule{Feature::avx512fp16, Architecture::x86_64, "AVX512-FP16", Word::leaf7_edx, 1U << 23U, avx512_state},
    Rule{Feature::avx512bf16, Architecture::x86_64, "AVX512-BF16", Word::leaf7_1_eax, 1U << 5U, avx512_state},
    Rule{Feature::amx_int8, Architecture::x86_64, "AMX-INT8", Word::leaf7_edx, (1U << 25U) | amx_tile, tile_state},
    Rule{Feature::amx_bf16, Architecture::x86_64, "AMX-BF16", Word::leaf7_edx, (1U << 22U) | amx_tile, tile_state},
    Rule{Feature::neon, Architecture::aarch64, "Advanced SIMD", Word::hwcap, 1U << 1U, 0},
    Rule{Feature::neon_fp16, Architecture::aarch64, "half-precision Advanced SIMD", Word::hwcap, 1U << 10U, 0},
    Rule{Feature::neon_dot, Architecture::aarch64, "Advanced SIMD dot products", Word::hwcap, 1U << 20U, 0},
    Rule{Feature::sve, Architecture::aarch64, "SVE", Word::hwcap, 1U << 22U, 0},
};

std::uint64_t word_of(const RawCpu& cpu, Word word) {
  switch (word) {
    case Word::leaf1_ecx:
      return cpu.leaf1_ecx;
    case Word::leaf7_ebx:
      return cpu.leaf7_ebx;
    case Word::leaf7_ecx:
      return cpu.leaf7_ecx;
    case Word::leaf7_edx:
      return cpu.leaf7_edx;
    case Word::leaf7_1_eax:
      return cpu.leaf7_1_eax;
    case Word::hwcap:
      return cpu.hwcap;
  }
  return 0;
}

std::optional<std::string> why_broken(const Rule& rule, const RawCpu& cpu) {
  const std::string name(rule.name);
  if (rule.architecture != cpu.architecture)
    return name + " is for " + std::string(name_of(rule.architecture)) + ", and this is " +
           std::string(name_of(cpu.architecture));
  if ((word_of(cpu, rule.word) & rule.bits) != rule.bits) return "the CPU has no " + name;
  const std::uint64_t kept = (cpu.leaf1_ecx & osxsave) != 0 ? cpu.xcr0 : 0;
  if ((kept & rule.state) != rule.state) return "the operating system does not save the registers of " + name;
  if (rule.state == tile_state && cpu.amx_permission_errno != 0)
    return "the operating system does not permit AMX tiles: " + std::string(std::strerror(cpu.amx_permission_errno));
  return std::nullopt;
}

#if defined(__x86_64__)
std::uint64_t read_xcr0() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32U) | low;
}

/// Tiles are off for a process until it asks (Linux 5.16 and later).
int ask_for_tiles() {
  constexpr long request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr long tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0 ? 0 : errno;
}
#endif

}  // namespace

std::string_view name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::x86_64:
      return "x86-64";
    case Architecture::aarch64:
      return "aarch64";
    case Architecture::other:
      return "another architecture";
  }
  return "";
}

RawCpu read_raw_cpu() {
  RawCpu cpu;
  cpu.architecture = built_for();
#if defined(__x86_64__)
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) cpu.leaf1_ecx = ecx;
  std::uint32_t subleaves = 0;
  if (__get_cpuid_count(7, 0, &subleaves, &cpu.leaf7_ebx, &cpu.leaf7_ecx, &cpu.leaf7_edx) == 0) subleaves = 0;
  if (subleaves >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) cpu.leaf7_1_eax = eax;
  if ((cpu.leaf1_ecx & osxsave) != 0) cpu.xcr0 = read_xcr0();
  if ((cpu.leaf7_edx & amx_tile) != 0 && (cpu.xcr0 & tile_state) == tile_state)
    cpu.amx_permission_errno = ask_for_tiles();
#elif defined(__aarch64__)
  cpu.hwcap = getauxval(AT_HWCAP);
#endif
  return cpu;
}

std::optional<std::string> why_missing(Feature feature, const RawCpu& cpu) {
  if (feature == Feature::always) return std::nullopt;
  for (const Rule& rule : rules)
    if (rule.feature == feature) return why_broken(rule, cpu);
  return "nothing is known of it";  // unreachable: a test holds the table against the features
}

}  // namespace ullage::compute
