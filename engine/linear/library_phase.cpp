// SPDX-License-Identifier: Apache-2.0
#include "linear/library_phase.hpp"

#include <string>
#include <utility>

#include "base/permutation.hpp"
#include "linear/linear_check.hpp"

namespace ullage {

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
