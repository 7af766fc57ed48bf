// SPDX-License-Identifier: Apache-2.0
// What phases share whose operations are calls of a library of linear algebra.
#pragma once

#include "base/clock.hpp"
#include "base/clock_rate.hpp"
#include "base/parameters.hpp"
#include "base/permutation.hpp"
#include "base/std.hpp"
#include "linear/linear_check.hpp"
#include "work/phase_work.hpp"

namespace ullage {

// Calls of a library one after the other, each with its time and the clock of the core that made it.

/// Holds what `gemm` and `solve` share.
struct CallParameters {
  int threads = 1;
  int calls = 1;
  double warm_up_s = 0.1;
  std::string library;
  std::string core;

  [[nodiscard]] static Table<CallParameters> table() {
    using P = CallParameters;
    return {
        count("threads", &P::threads, {1, 4096}, "Let the library run this many threads, not pinned to cores."),
        count("calls", &P::calls, {1, 100'000}, "Time this many calls, one after the other."),
        seconds("warm_up_s", &P::warm_up_s, {0, 60},
                "Run smaller calls for this many seconds before the first timed call."),
        text("library", &P::library,
             "Load the BLAS of this path or name; empty means the first that the dynamic linker finds. A launch can "
             "load "
             "only one."),
        text("core", &P::core,
             "Make OpenBLAS use the kernels of this core, a word of OPENBLAS_CORETYPE; empty means that OpenBLAS "
             "chooses."),
    };
  }
};

/// Blas and its kernels as they were asked for; empty: nobody asked.
[[nodiscard]] inline Map given(const CallParameters& parameters) {
  Map hints;
  if (!parameters.library.empty()) hints["library"] = parameters.library;
  if (!parameters.core.empty()) hints["core"] = parameters.core;
  return hints;
}

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
  void report(int threads, Gauges& gauges) const {
    gauges["kernel_s"] = static_cast<double>(elapsed_ns_) * 1e-9;
    gauges["shortest_window_s"] = count_ > 0 ? static_cast<double>(shortest_ns_) * 1e-9 : 0;
    gauges["cycles"] = cycles_ * threads;
    gauges["clock_hz"] = count_ > 0 ? sum_hz_ / static_cast<double>(count_) : 0;
    gauges["clock_disagreement"] = disagreement_;
  }

 private:
  void add(std::int64_t took_ns, const ClockRate& before, const ClockRate& after) {
    const double hz = (before.add_hz + after.add_hz) / 2;
    ++count_;
    elapsed_ns_ += took_ns;
    shortest_ns_ = std::min(shortest_ns_, took_ns);
    sum_hz_ += hz;
    cycles_ += hz * static_cast<double>(took_ns) * 1e-9;
    disagreement_ = std::max({disagreement_, before.disagreement(), after.disagreement()});
  }

  std::uint64_t count_ = 0;
  std::int64_t elapsed_ns_ = 0;
  std::int64_t shortest_ns_ = std::numeric_limits<std::int64_t>::max();
  double sum_hz_ = 0;
  double cycles_ = 0;
  double disagreement_ = 0;
};

/// Each call is an operation. Gauges besides TimedCalls': operations, threads (asked for), library_threads.
class LibraryPhase : public PhaseWork {
 public:
  explicit LibraryPhase(const CallParameters& asked) : asked_(asked) {}

  [[nodiscard]] std::uint64_t operations() const override { return static_cast<std::uint64_t>(asked_.calls); }
  [[nodiscard]] Map hints_given() const override { return given(asked_); }

 protected:
  [[nodiscard]] Gauges gauges_of(double operations_a_call, int library_threads) const {
    Gauges gauges{{"operations", operations_a_call * static_cast<double>(calls_.count())},
                  {"threads", asked_.threads},
                  {"library_threads", library_threads}};
    calls_.report(library_threads, gauges);
    return gauges;
  }

  TimedCalls calls_;

 private:
  CallParameters asked_;
};

/// Each call solves another system A x = b of `n` unknowns with elements evenly spread over [-0.5, 0.5): LU
/// factorisation with partial pivoting, then both triangles, timed together. Making A is not. Counted and checked as
/// HPL does it: 2/3 n^3 + 3/2 n^2 operations; gauge residual is HPL's scaled one, the largest of all calls.
class SystemsPhase : public LibraryPhase {
 public:
  SystemsPhase(const CallParameters& asked, int n, std::uint64_t seed) : LibraryPhase(asked), n_(n), seed_(seed) {}

  /// One system: factoring destroys it, so each is made anew.
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t) override {
    made_ = make_system(seed_of(first));
    return 1;
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (!made_) return made_;
    int not_solved = 0;
    calls_.time([&] { not_solved = solve(); });
    if (not_solved != 0) return fail(environment_error(info().name, said(not_solved)));
    (void)meter.completed(0);
    solutions_.push_back(solution());
    return {};
  }

  [[nodiscard]] Verification after(std::uint64_t, Meter& progress) override {
    Verification found;
    for (std::uint64_t call = 0; call < solutions_.size(); ++call) {
      const double residual = residual_of(seed_of(call), solutions_[call]);
      if (!(residual <= residual_)) residual_ = residual;
      progress.report_alive();
      if (residual < most_residual) continue;
      if (counts_it()) ++found.bad_blocks;
      found.first = environment_error(info().name, "HPL's scaled residual is " + std::to_string(residual) +
                                                       ", but must be below 16 for a right solution");
    }
    return found;
  }

 protected:
  [[nodiscard]] virtual Status make_system(std::uint64_t seed) = 0;
  /// Solves the system; timed. Not 0: what the library says of a system that has no solution.
  [[nodiscard]] virtual int solve() = 0;
  /// Returns a text for people.
  [[nodiscard]] virtual std::string said(int not_solved) const = 0;
  /// Returns what solve() has left.
  [[nodiscard]] virtual const std::vector<double>& solution() const = 0;
  [[nodiscard]] virtual double residual_of(std::uint64_t seed, const std::vector<double>& solution) const = 0;
  /// Returns whether a wrong solution is counted here, which one of the ranks does that have solved it together.
  [[nodiscard]] virtual bool counts_it() const { return true; }

  [[nodiscard]] std::uint64_t seed_of(std::uint64_t call) const { return mix64(seed_) + call; }

  [[nodiscard]] double operations_a_call() const {
    const double n = n_;
    return 2.0 / 3 * n * n * n + 1.5 * n * n;
  }

  [[nodiscard]] Gauges with_residual(Gauges gauges) const {
    gauges["residual"] = residual_;
    return gauges;
  }

 private:
  int n_;
  std::uint64_t seed_;
  Status made_;
  std::vector<std::vector<double>> solutions_;
  double residual_ = 0;
};

}  // namespace ullage
