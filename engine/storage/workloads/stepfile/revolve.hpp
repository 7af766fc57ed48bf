// SPDX-License-Identifier: Apache-2.0
// Binomial checkpointing: what is stored, restored and computed again where only some states can be kept. Pure.
// Source: Griewank and Walther, Algorithm 799: Revolve, ACM TOMS 26 (2000) 19-45.
#pragma once

#include "base/std.hpp"

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
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    if (kind_ == StepOrderKind::forward) return index;
    if (kind_ != StepOrderKind::stride) return steps_ - 1 - index;
    // The first classes of steps that are a stride apart have one step more than the others, unless all have as many.
    const std::uint64_t fewer = steps_ / stride_;
    const std::uint64_t longer_classes = steps_ % stride_;
    const std::uint64_t in_longer = longer_classes * (fewer + 1);
    if (index < in_longer) return index / (fewer + 1) + index % (fewer + 1) * stride_;
    return longer_classes + (index - in_longer) / fewer + (index - in_longer) % fewer * stride_;
  }

 private:
  StepOrderKind kind_;
  std::uint64_t steps_;
  std::uint64_t stride_;
};

inline constexpr std::uint64_t most_counted = std::uint64_t{1} << 60;  // a binomial coefficient above it counts as this

/// Returns how often at most a step is advanced over when `steps` steps are reversed with `checkpoints` states kept,
/// the first one included: the least r with C(checkpoints + r, checkpoints) >= steps.
[[nodiscard]] inline std::uint64_t revolve_repetitions(std::uint64_t steps, std::uint64_t checkpoints) noexcept {
  std::uint64_t r = 0;
  for (std::uint64_t range = 1;
       range<steps; range = range> most_counted / (checkpoints + r) ? most_counted : range * (checkpoints + r) / r)
    ++r;
  return r;
}

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

/// C(checkpoints + repetitions, checkpoints): the most steps that can be reversed so.
inline std::uint64_t reach(std::uint64_t checkpoints, std::uint64_t repetitions) noexcept {
  std::uint64_t steps = 1;
  for (std::uint64_t r = 1; r <= repetitions; ++r) {
    if (steps > most_counted / (checkpoints + r)) return most_counted;
    steps = steps * (checkpoints + r) / r;
  }
  return steps;
}

/// Returns where to store next in a segment of `length` >= 2 steps with `slots` >= 2: both parts must then do with the
/// fewest repetitions.
inline std::uint64_t first_part(std::uint64_t length, std::uint64_t slots) noexcept {
  const std::uint64_t r = revolve_repetitions(length, slots);
  const std::uint64_t second = reach(slots - 1, r);
  const std::uint64_t least =
      std::max<std::uint64_t>(length > second ? length - second : 1, r < 2 ? 1 : reach(slots, r - 2));
  return std::min(least, length - 1);
}

/// The actions one after the other, from the state of step 0 on, in memory for as many numbers as there are
/// checkpoints. The turns come from the last step to the first.
class Revolve final {
 public:
  Revolve(std::uint64_t steps, std::uint64_t checkpoints)
      : open_{{0, steps, 0, std::min(checkpoints, steps)}}, current_(0) {}

  /// Nothing when step 0 was turned.
  [[nodiscard]] std::optional<RevolveAction> next() {
    using Kind = RevolveAction::Kind;
    if (!stored_first_) {
      stored_first_ = true;
      return RevolveAction{Kind::store, 0, 0};
    }
    if (open_.empty()) return std::nullopt;
    Segment& segment = open_.back();
    const std::uint64_t length = segment.end - segment.begin;
    if (length == 1 || segment.slots == 1) {
      const std::uint64_t last = segment.end - 1;
      if (current_ != last) return lead_to(segment, last);
      current_.reset();  // the adjoint's step has used it up
      if (--segment.end == segment.begin) open_.pop_back();
      return RevolveAction{Kind::turn, last, 0};
    }
    if (!to_store_) to_store_ = segment.begin + first_part(length, segment.slots);
    const std::uint64_t middle = *to_store_;
    if (current_ != middle) return lead_to(segment, middle);
    to_store_.reset();
    const Segment second{middle, segment.end, segment.slot + 1, segment.slots - 1};
    segment.end = middle;
    open_.push_back(second);
    return RevolveAction{Kind::store, middle, second.slot};
  }

 private:
  /// Steps [begin, end) are to be turned; the state of `begin` is in `slot`, and `slots` may be used, that one
  /// included.
  struct Segment {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t slot = 0;
    std::uint64_t slots = 0;
  };

  /// Restores the segment's first state where another one, or none, is at hand; else advances to `step`.
  [[nodiscard]] RevolveAction lead_to(const Segment& from, std::uint64_t step) {
    const bool restores = !current_ || *current_ < from.begin || *current_ > step;
    current_ = restores ? from.begin : step;
    return restores ? RevolveAction{RevolveAction::Kind::restore, from.begin, from.slot}
                    : RevolveAction{RevolveAction::Kind::advance, step, 0};
  }

  std::vector<Segment> open_;
  std::optional<std::uint64_t> current_;  // the step whose state is at hand
  std::optional<std::uint64_t> to_store_;
  bool stored_first_ = false;
};

}  // namespace ullage
