// SPDX-License-Identifier: Apache-2.0
// What may be used is decided from raw words, so every machine can be played.
#include "base/isa.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "base/procfs.hpp"

namespace ullage::isa_test {

constexpr std::uint64_t all_state = 0x602e7;
constexpr std::uint64_t no_tiles = 0xe7;
constexpr std::uint64_t no_avx512 = 0x7;
constexpr std::uint64_t sse_only = 0x3;

/// Has everything, and its kernel keeps everything.
RawCpu full_x86() {
  RawCpu cpu;
  cpu.architecture = Architecture::x86_64;
  cpu.leaf1_ecx = cpu.leaf7_ebx = cpu.leaf7_ecx = cpu.leaf7_edx = cpu.leaf7_1_eax = ~0U;
  cpu.xcr0 = all_state;
  return cpu;
}

constexpr std::array avx_features{features::fma3, features::avx2, features::avxvnni};
constexpr std::array avx512_features{features::avx512f,    features::avx512bw,   features::avx512dq,
                                     features::avx512vnni, features::avx512fp16, features::avx512bf16};
constexpr std::array tile_features{features::amx_int8, features::amx_bf16};
constexpr std::array arm_features{features::neon, features::neon_fp16, features::neon_dot, features::sve};

template <class Features>
void expect_all(const Features& wanted, const RawCpu& cpu, const std::string& reason) {
  for (const Feature& feature : wanted) {
    const auto missing = why_missing(feature, cpu);
    EXPECT_EQ(missing.has_value(), !reason.empty()) << feature.name;
    EXPECT_NE(missing.value_or("").find(reason), std::string::npos) << missing.value_or("");
  }
}

TEST(Isa, FullMachineHasAll) {
  expect_all(avx_features, full_x86(), "");
  expect_all(avx512_features, full_x86(), "");
  expect_all(tile_features, full_x86(), "");
  expect_all(arm_features, full_x86(), "is for aarch64, and this is x86-64");
}

TEST(Isa, RegistersTheKernelDoesNotSaveAreNotUsed) {
  RawCpu cpu = full_x86();
  cpu.xcr0 = no_tiles;
  expect_all(avx512_features, cpu, "");
  expect_all(tile_features, cpu, "the operating system does not save the registers of AMX");
  cpu.xcr0 = no_avx512;
  expect_all(avx_features, cpu, "");
  expect_all(avx512_features, cpu, "does not save the registers of AVX");
  cpu.xcr0 = sse_only;
  expect_all(avx_features, cpu, "does not save");
  EXPECT_FALSE(why_missing(features::sse41, cpu));
}

TEST(Isa, EachBitOfTheStateIsNeeded) {
  for (const std::uint64_t bit : {1U, 2U, 5U, 6U, 7U}) {
    RawCpu cpu = full_x86();
    cpu.xcr0 &= ~(std::uint64_t{1} << bit);
    expect_all(avx512_features, cpu, "does not save");
  }
  for (const std::uint64_t bit : {17U, 18U}) {
    RawCpu cpu = full_x86();
    cpu.xcr0 &= ~(std::uint64_t{1} << bit);
    expect_all(tile_features, cpu, "does not save");
  }
}

TEST(Isa, WithoutXgetbvNothingIsSaved) {
  RawCpu cpu = full_x86();
  cpu.leaf1_ecx &= ~(1U << 27U);
  expect_all(avx_features, cpu, "does not save");
  expect_all(avx512_features, cpu, "does not save");
  expect_all(tile_features, cpu, "does not save");
}

TEST(Isa, TilesNeedThePermission) {
  RawCpu cpu = full_x86();
  cpu.amx_permission_errno = EPERM;
  expect_all(tile_features, cpu, "does not permit AMX tiles");
  expect_all(avx512_features, cpu, "");
}

TEST(Isa, AbsentInstructionsAreSaidToBeTheCpus) {
  RawCpu cpu = full_x86();
  cpu.leaf7_edx = 0;
  expect_all(tile_features, cpu, "the CPU has no AMX");
  EXPECT_EQ(why_missing(features::avx512fp16, cpu), "the CPU has no AVX512-FP16");
  cpu.leaf7_edx = ~(1U << 24U);  // the arithmetic without the tiles
  expect_all(tile_features, cpu, "the CPU has no AMX");
  cpu = full_x86();
  cpu.leaf7_ebx &= ~(1U << 16U);
  EXPECT_TRUE(why_missing(features::avx512bw, cpu));  // not without the foundation
}

TEST(Isa, ArmIsTakenFromTheAuxiliaryVector) {
  RawCpu cpu;
  cpu.architecture = Architecture::aarch64;
  expect_all(arm_features, cpu, "the CPU has no");
  cpu.hwcap = ~0U;
  expect_all(arm_features, cpu, "");
  expect_all(avx_features, cpu, "is for x86-64, and this is aarch64");
}

TEST(Isa, OtherCpusHaveOnlyWhatAllHave) {
  const RawCpu cpu;
  EXPECT_FALSE(why_missing(features::always, cpu));
  expect_all(avx_features, cpu, "is for x86-64");
  expect_all(arm_features, cpu, "is for aarch64");
}

TEST(Isa, ThisMachineIsWhatTheKernelSaysOfIt) {
  const RawCpu cpu = read_raw_cpu();
  EXPECT_EQ(cpu.architecture, built_for());
#if defined(__x86_64__)
  const auto cpuinfo = read_text("/proc/cpuinfo");
  ASSERT_TRUE(cpuinfo);
  const std::string flags = " " + cpuinfo_value(*cpuinfo, "flags").value_or("") + " ";
  for (const auto& [feature, flag] :
       {std::pair{features::sse41, " sse4_1 "}, std::pair{features::fma3, " fma "}, std::pair{features::avx2, " avx2 "},
        std::pair{features::avx512f, " avx512f "}, std::pair{features::avx512vnni, " avx512_vnni "}}) {
    EXPECT_EQ(!why_missing(feature, cpu), flags.contains(flag)) << flag;
    EXPECT_EQ(cpu_has(feature), flags.contains(flag)) << flag;
  }
#endif
}

}  // namespace ullage::isa_test
