// SPDX-License-Identifier: Apache-2.0
#include "message/b_eff/loops.hpp"

#include <algorithm>
#include <cmath>

namespace ullage {
namespace {

constexpr double shortest_probe_s = 1e-9;
/// The original has the same numbers.
constexpr double estimated_repetitions = 3;
constexpr double estimate_margin = 4;
constexpr double most_budgets = 60 / 0.5;

}  // namespace

void BEffLoops::probed(double took_s) {
  const double allowed = static_cast<double>(probe_loops) * budget_s_ / std::max(took_s, shortest_probe_s);
  most_loops_ = std::floor(std::max(allowed, static_cast<double>(probe_loops)));
  loops_ = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(most_loops_ / 2));
  took_s_ = took_s;
}

void BEffLoops::lengthen(double growth) {
  const double more = std::max(1.0, budget_s_ / std::max(took_s_, shortest_probe_s));
  const double wanted = static_cast<double>(loops_) / growth * more;
  loops_ = static_cast<std::uint64_t>(std::max(1.0, std::min(wanted, most_loops_)));
  took_s_ = 0;
}

bool last_two_take_too_long(std::span<const BEffLoops> methods, double growth, double budget_s) {
  double iterations_s = 0;
  for (const BEffLoops& method : methods) iterations_s += method.iteration_s();
  return iterations_s * estimate_margin * (growth + growth * growth) * estimated_repetitions > most_budgets * budget_s;
}

}  // namespace ullage
