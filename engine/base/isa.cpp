// SPDX-License-Identifier: Apache-2.0
#include "base/isa.hpp"

#include <cerrno>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace ullage {
namespace {

constexpr std::uint32_t osxsave = 1U << 27U;  // in leaf 1, ECX: XGETBV may be executed

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

RawCpu read_words() {
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
#elif defined(__aarch64__)
  cpu.hwcap = getauxval(AT_HWCAP);
#endif
  return cpu;
}

}  // namespace

std::string_view name_of(Architecture architecture) {
  switch (architecture) {
    case Architecture::x86_64:
      return "x86-64";
    case Architecture::aarch64:
      return "aarch64";
    case Architecture::other:
      return "a different architecture";
  }
  return "";
}

RawCpu read_raw_cpu() {
  RawCpu cpu = read_words();
#if defined(__x86_64__)
  if ((cpu.leaf7_edx & amx_tile) != 0 && (cpu.xcr0 & tile_state) == tile_state)
    cpu.amx_permission_errno = ask_for_tiles();
#endif
  return cpu;
}

std::optional<std::string> why_missing(const Feature& feature, const RawCpu& cpu) {
  const std::string name(feature.name);
  if (name.empty()) return std::nullopt;
  if (feature.architecture != cpu.architecture)
    return name + " is for " + std::string(name_of(feature.architecture)) + ", and this is " +
           std::string(name_of(cpu.architecture));
  if ((feature.word(cpu) & feature.bits) != feature.bits) return "the CPU has no " + name;
  const std::uint64_t kept = (cpu.leaf1_ecx & osxsave) != 0 ? cpu.xcr0 : 0;
  if ((kept & feature.state) != feature.state) return "the operating system does not save the registers of " + name;
  if (feature.state == tile_state && cpu.amx_permission_errno != 0)
    return "the operating system does not permit AMX tiles: " + std::string(std::strerror(cpu.amx_permission_errno));
  return std::nullopt;
}

bool cpu_has(const Feature& feature) {
  static const RawCpu cpu = read_words();
  return !why_missing(feature, cpu);
}

}  // namespace ullage
