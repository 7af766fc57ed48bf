// SPDX-License-Identifier: Apache-2.0
#include "noise/fixed_chain.hpp"

#include <cmath>

#include "base/clock.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t calibration_blocks = 1000;
constexpr int calibrations = 50;

/// Registers are added, not immediates, which some processors fold when they rename registers.
void add_block(std::uint64_t& value) {
#if defined(__x86_64__)
  asm volatile(".rept 16\n\tadd %0, %0\n\t.endr" : "+r"(value));  // NOLINT(hicpp-no-assembler)
#elif defined(__aarch64__)
  asm volatile(".rept 16\n\tadd %0, %0, %0\n\t.endr" : "+r"(value));
#else
  for (int link = 0; link < links_a_block; ++link) {
    value += value;
    asm volatile("" : "+r"(value));  // so that the compiler takes nothing together
  }
#endif
}

}  // namespace

double cycles_a_block() {
#if defined(__x86_64__) || defined(__aarch64__)
  return links_a_block;
#else
  return 0;
#endif
}

void run_chain(std::uint64_t blocks) {
  std::uint64_t value = 1;
  for (std::uint64_t block = 0; block < blocks; ++block) add_block(value);
}

std::uint64_t blocks_that_last(double ns) {
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  for (int run = 0; run < calibrations; ++run) {
    const std::int64_t begun = now_ns();
    run_chain(calibration_blocks);
    shortest_ns = std::min(shortest_ns, now_ns() - begun);
  }
  const double blocks =
      ns * static_cast<double>(calibration_blocks) / static_cast<double>(std::max<std::int64_t>(1, shortest_ns));
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(blocks)));
}

}  // namespace ullage
