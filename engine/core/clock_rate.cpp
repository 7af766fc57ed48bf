// SPDX-License-Identifier: Apache-2.0
#include "core/clock_rate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/clock.hpp"

namespace ullage {
namespace {

constexpr int blocks = 800;
constexpr int links_a_block = 16;
constexpr int runs = 2;

#if defined(__x86_64__)
constexpr double multiply_cycles = 3;

void add_chain(std::uint64_t& value) {
  for (int i = 0; i < blocks; ++i)
    asm volatile(".rept 16\n\tadd %0, %0\n\t.endr" : "+r"(value));  // NOLINT(hicpp-no-assembler)
}

void multiply_chain(std::uint64_t& value) {
  for (int i = 0; i < blocks; ++i)
    asm volatile(".rept 16\n\timul %0, %0\n\t.endr" : "+r"(value));  // NOLINT(hicpp-no-assembler)
}
#elif defined(__aarch64__)
constexpr double multiply_cycles = 0;  // 3 to 5, by the core

void add_chain(std::uint64_t& value) {
  for (int i = 0; i < blocks; ++i) asm volatile(".rept 16\n\tadd %0, %0, %0\n\t.endr" : "+r"(value));
}

void multiply_chain(std::uint64_t& value) { add_chain(value); }
#endif

#if defined(__x86_64__) || defined(__aarch64__)
template <class Chain>
std::int64_t time_ns(Chain chain) {
  auto value = static_cast<std::uint64_t>(now_ns()) | 1U;
  const std::int64_t begun = now_ns();
  chain(value);
  return now_ns() - begun;
}

double rate(double cycles, std::int64_t ns) {
  return ns > 0 ? cycles * blocks * links_a_block * 1e9 / static_cast<double>(ns) : 0;
}
#endif

}  // namespace

double ClockRate::disagreement() const {
  if (add_hz <= 0 || multiply_hz <= 0) return 0;
  return std::abs(add_hz / multiply_hz - 1);
}

ClockRate read_clock_rate() {
#if defined(__x86_64__) || defined(__aarch64__)
  std::int64_t add_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t multiply_ns = add_ns;
  for (int run = 0; run < runs; ++run) {
    add_ns = std::min(add_ns, time_ns(add_chain));
    multiply_ns = std::min(multiply_ns, time_ns(multiply_chain));
  }
  return {rate(1, add_ns), rate(multiply_cycles, multiply_ns)};
#else
  return {};
#endif
}

}  // namespace ullage
