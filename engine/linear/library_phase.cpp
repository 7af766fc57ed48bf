// SPDX-License-Identifier: Apache-2.0
#include "linear/library_phase.hpp"

#include <utility>

#include "base/permutation.hpp"
#include "linear/linear_check.hpp"

namespace ullage {

Table<CallParameters> CallParameters::table() {
  using P = CallParameters;
  return {
      count("threads", &P::threads, {1, 4096}, "Let the library run this many threads, not pinned to cores."),
      count("calls", &P::calls, {1, 100'000}, "Time this many calls, one after the other."),
      seconds("warm_up_s", &P::warm_up_s, {0, 60},
              "Run smaller calls for this many seconds before the first timed call."),
      text("library", &P::library,
           "Load the BLAS of this path or name; empty means the first that the dynamic linker finds. A launch can load "
           "only one."),
      text("core", &P::core,
           "Make OpenBLAS use the kernels of this core, a word of OPENBLAS_CORETYPE; empty means that OpenBLAS "
           "chooses."),
  };
}

Map given(const CallParameters& parameters) {
  Map hints;
  if (!parameters.library.empty()) hints["library"] = parameters.library;
  if (!parameters.core.empty()) hints["core"] = parameters.core;
  return hints;
}

void TimedCalls::add(std::int64_t took_ns, const ClockRate& before, const ClockRate& after) {
  const double hz = (before.add_hz + after.add_hz) / 2;
  ++count_;
  elapsed_ns_ += took_ns;
  shortest_ns_ = std::min(shortest_ns_, took_ns);
  sum_hz_ += hz;
  cycles_ += hz * static_cast<double>(took_ns) * 1e-9;
  disagreement_ = std::max({disagreement_, before.disagreement(), after.disagreement()});
}

void TimedCalls::report(int threads, Gauges& gauges) const {
  gauges["kernel_s"] = static_cast<double>(elapsed_ns_) * 1e-9;
  gauges["shortest_window_s"] = count_ > 0 ? static_cast<double>(shortest_ns_) * 1e-9 : 0;
  gauges["cycles"] = cycles_ * threads;
  gauges["clock_hz"] = count_ > 0 ? sum_hz_ / static_cast<double>(count_) : 0;
  gauges["clock_disagreement"] = disagreement_;
}

Gauges LibraryPhase::gauges_of(double operations_a_call, int library_threads) const {
  Gauges gauges{{"operations", operations_a_call * static_cast<double>(calls_.count())},
                {"threads", asked_.threads},
                {"library_threads", library_threads}};
  calls_.report(library_threads, gauges);
  return gauges;
}

std::uint64_t SystemsPhase::seed_of(std::uint64_t call) const { return mix64(seed_) + call; }

double SystemsPhase::operations_a_call() const {
  const double n = n_;
  return 2.0 / 3 * n * n * n + 1.5 * n * n;
}

std::uint64_t SystemsPhase::prepare(std::uint64_t first, std::uint64_t) {
  made_ = make_system(seed_of(first));
  return 1;
}

Status SystemsPhase::execute(Meter& meter) {
  if (!made_) return made_;
  int not_solved = 0;
  calls_.time([&] { not_solved = solve(); });
  if (not_solved != 0) return fail(environment_error(info().name, said(not_solved)));
  (void)meter.completed(0);
  solutions_.push_back(solution());
  return {};
}

Verification SystemsPhase::after(std::uint64_t, Meter& progress) {
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

Gauges SystemsPhase::with_residual(Gauges gauges) const {
  gauges["residual"] = residual_;
  return gauges;
}

}  // namespace ullage
