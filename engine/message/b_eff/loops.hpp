// SPDX-License-Identifier: Apache-2.0
// How often b_eff repeats the messages of one length, so that all patterns together take about a given time.
#pragma once

#include <cstdint>
#include <span>

namespace ullage {

/// Says how many loops one method makes with each size. Times are those of all patterns, as rank 0 measures them.
/// Source: b_eff 3.6.
class BEffLoops final {
 public:
  static constexpr std::uint64_t probe_loops = 10;

  explicit BEffLoops(double budget_s) : budget_s_(budget_s) {}

  /// The first length took that long, `probe_loops` times: half of what the budget allows from then on. As in the
  /// original that time stays part of what the first length took.
  void probed(double took_s);
  /// The current length took that long, loops() times.
  void took(double took_s) { took_s_ += took_s; }
  /// On to a length `growth` times the current one: fewer loops in proportion, but more where the budget was not used
  /// up, and never more than the probe found it to allow.
  void lengthen(double growth);

  [[nodiscard]] std::uint64_t loops() const noexcept { return loops_; }
  [[nodiscard]] double iteration_s() const noexcept { return took_s_ / static_cast<double>(loops_); }

 private:
  double budget_s_;
  double most_loops_ = 0;
  double took_s_ = 0;
  std::uint64_t loops_ = probe_loops;
};

/// Returns whether the last two of b_eff's lengths would take too long by all methods, judged by the length before
/// them: above 60 s at the original's budget of 0.5 s, and in proportion to it.
[[nodiscard]] bool last_two_take_too_long(std::span<const BEffLoops> methods, double growth, double budget_s);

}  // namespace ullage
