// SPDX-License-Identifier: Apache-2.0
#include "base/clock_rate.hpp"

#include <cmath>

#include "base/clock.hpp"
#include "base/std.hpp"

namespace ullage {
namespace {

constexpr int blocks = 800;
constexpr int links_a_turn = 16;
constexpr int least_runs = 2;
constexpr int most_runs = 8;  // where something is in the way of every one, or the CPU is not as we think

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
void no_chain(std::uint64_t& /*value*/) {}

/// The shortest of the runs of one chain so far.
class Shortest final {
 public:
  template <class Chain>
  void time(Chain chain) {
    auto value = static_cast<std::uint64_t>(now_ns()) | 1U;
    const std::int64_t begun = now_ns();
    chain(value);
    ns_ = std::min(ns_, now_ns() - begun);
  }
  /// `empty`: what reading the time itself takes, 0.5 % of the shorter chain.
  [[nodiscard]] double rate(double cycles, const Shortest& empty) const {
    const std::int64_t ns = ns_ - empty.ns_;
    return ns > 0 ? cycles * blocks * links_a_turn * 1e9 / static_cast<double>(ns) : 0;
  }

 private:
  std::int64_t ns_ = std::numeric_limits<std::int64_t>::max();
};
#endif

}  // namespace

double ClockRate::disagreement() const {
  if (add_hz <= 0 || multiply_hz <= 0) return 0;
  return std::abs(add_hz / multiply_hz - 1);
}

ClockRate read_clock_rate() {
#if defined(__x86_64__) || defined(__aarch64__)
  Shortest empty;
  Shortest add;
  Shortest multiply;
  ClockRate rate;
  for (int run = 0; run < most_runs; ++run) {
    empty.time(no_chain);
    add.time(add_chain);
    multiply.time(multiply_chain);
    rate = {add.rate(1, empty), multiply.rate(multiply_cycles, empty)};
    if (run + 1 >= least_runs && rate.disagreement() <= most_disagreement) break;
  }
  return rate;
#else
  return {};
#endif
}

}  // namespace ullage
