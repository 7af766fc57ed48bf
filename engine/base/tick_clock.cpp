// SPDX-License-Identifier: Apache-2.0
#include "base/tick_clock.hpp"

#include "base/std.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <fstream>

namespace ullage {
namespace {

#if defined(__x86_64__)
constexpr std::int64_t valid_ns = 1'000'000;
// Both clocks are read within 100 ns or so of each other: over this long that is less than 10 in a million.
constexpr std::int64_t shortest_baseline_ns = 20'000'000;
constexpr std::uint64_t most_ticks_in_64_bits = std::uint64_t{1} << 30;

struct Anchor {
  std::uint64_t ticks;
  std::int64_t ns;
};

/// Both at once, as nearly as the shortest of a few tries comes.
Anchor read_both() noexcept {
  Anchor best{};
  auto shortest = static_cast<std::uint64_t>(-1);
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = __rdtsc();
    const std::int64_t ns = now_ns();
    const std::uint64_t took = __rdtsc() - before;
    if (took < shortest) {
      shortest = took;
      best = {before + took / 2, ns};
    }
  }
  return best;
}

const Anchor& process_anchor() noexcept {
  static const Anchor anchor = read_both();
  return anchor;
}

bool counter_is_the_kernels() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned power_leaf = 0x80000007;
  constexpr unsigned invariant_tsc = 1U << 8U;
  if (__get_cpuid(power_leaf, &a, &b, &c, &d) == 0 || (d & invariant_tsc) == 0) return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  return static_cast<bool>(file >> source) && source == "tsc";
}
#endif

}  // namespace

bool TickClock::is_usable() noexcept {
#if defined(__x86_64__)
  static const bool usable = [] {
    const bool found = counter_is_the_kernels();
    if (found) (void)process_anchor();
    return found;
  }();
  return usable;
#else
  return false;
#endif
}

std::int64_t TickClock::set(std::uint64_t since) noexcept {
#if defined(__x86_64__)
  const bool was_telling = ns_a_tick_ != 0 && since < most_ticks_in_64_bits;
  const std::int64_t told =
      was_telling ? set_ns_ + static_cast<std::int64_t>((since * ns_a_tick_) >> fraction_bits) : 0;
  const Anchor now = read_both();
  set_ticks_ = now.ticks;
  set_ns_ = std::max(now.ns, told);
  const Anchor& first = process_anchor();
  const std::int64_t baseline_ns = now.ns - first.ns;
  if (baseline_ns < shortest_baseline_ns) return set_ns_;
  const double ns_a_tick = static_cast<double>(baseline_ns) / static_cast<double>(now.ticks - first.ticks);
  // What it is ahead of the kernel's it loses until it is set again, so that it need not go back.
  const double ahead = static_cast<double>(set_ns_ - now.ns) / static_cast<double>(valid_ns);
  ns_a_tick_ = static_cast<std::uint64_t>(ns_a_tick * std::max(0.5, 1 - ahead) * 0x1p32);
  valid_ticks_ = static_cast<std::uint64_t>(static_cast<double>(valid_ns) / ns_a_tick);
  return set_ns_;
#else
  (void)since;
  return ullage::now_ns();
#endif
}

}  // namespace ullage
