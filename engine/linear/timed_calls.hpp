// SPDX-License-Identifier: Apache-2.0
// Calls of a library one after the other, each with its time and the clock of the core that made it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "base/clock.hpp"
#include "base/clock_rate.hpp"
#include "base/parameters.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Holds what `gemm` and `solve` share.
struct CallParameters {
  int threads = 1;
  int calls = 1;
  double warm_up_s = 0.1;
  std::string library;
  std::string core;

  [[nodiscard]] static Table<CallParameters> table();
};

/// Blas and its kernels as they were asked for; empty: nobody asked.
[[nodiscard]] Map given(const CallParameters& parameters);

class TimedCalls final {
 public:
  /// Times `call()`, between two readings of the clock.
  template <class Call>
  void time(const Call& call) {
    const ClockRate before = read_clock_rate();
    const std::int64_t begun = now_ns();
    call();
    const std::int64_t took_ns = now_ns() - begun;
    const ClockRate after = read_clock_rate();
    add(took_ns, before, after);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// kernel_s, shortest_window_s (a call is a window), cycles (of `threads`, by the clock of the calling one),
  /// clock_hz, clock_disagreement.
  void report(int threads, Gauges& gauges) const;

 private:
  void add(std::int64_t took_ns, const ClockRate& before, const ClockRate& after);

  std::uint64_t count_ = 0;
  std::int64_t elapsed_ns_ = 0;
  std::int64_t shortest_ns_ = std::numeric_limits<std::int64_t>::max();
  double sum_hz_ = 0;
  double cycles_ = 0;
  double disagreement_ = 0;
};

}  // namespace ullage
