// SPDX-License-Identifier: Apache-2.0
// Binomial checkpointing: what is stored, restored and computed again where only some states can be kept. Pure.
// Source: Griewank and Walther, Algorithm 799: Revolve, ACM TOMS 26 (2000) 19-45.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ullage {

// In which order the adjoint phase needs the states of the steps. Pure.

enum class StepOrderKind { reverse, forward, stride, revolve };

/// A permutation of the steps for the orders that keep every state (all but revolve), in O(1) memory.
class StepOrder final {
 public:
  /// With `stride` k, the steps are 0, k, 2k ... and then 1, k + 1 ...
  StepOrder(StepOrderKind kind, std::uint64_t steps, std::uint64_t stride) noexcept
      : kind_(kind), steps_(steps), stride_(stride) {}

  /// The step that operation `index` works on.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept;

 private:
  StepOrderKind kind_;
  std::uint64_t steps_;
  std::uint64_t stride_;
};

/// Returns how often at most a step is advanced over when `steps` steps are reversed with `checkpoints` states kept,
/// the first one included: the least r with C(checkpoints + r, checkpoints) >= steps.
[[nodiscard]] std::uint64_t revolve_repetitions(std::uint64_t steps, std::uint64_t checkpoints) noexcept;

struct RevolveAction {
  enum class Kind {
    store,    // the state of `step`, the current one, goes into `slot`
    restore,  // the state of `step` comes from `slot`
    advance,  // compute from the current state to that of `step`
    turn,     // the adjoint's step `step`, which needs its state
  };
  Kind kind = Kind::turn;
  std::uint64_t step = 0;
  std::uint64_t slot = 0;

  [[nodiscard]] bool operator==(const RevolveAction&) const = default;
};

/// The actions one after the other, from the state of step 0 on, in memory for as many numbers as there are
/// checkpoints. The turns come from the last step to the first.
class Revolve final {
 public:
  Revolve(std::uint64_t steps, std::uint64_t checkpoints);
  /// Nothing when step 0 was turned.
  [[nodiscard]] std::optional<RevolveAction> next();

 private:
  /// Steps [begin, end) are to be turned; the state of `begin` is in `slot`, and `slots` may be used, that one
  /// included.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t slot = 0;
    std::uint64_t slots = 0;
  };
  [[nodiscard]] RevolveAction lead_to(const Segment& from, std::uint64_t step);

  std::vector<Segment> open_;
  std::optional<std::uint64_t> current_;  // the step whose state is at hand
  std::optional<std::uint64_t> to_store_;
  bool stored_first_ = false;
};

}  // namespace ullage
