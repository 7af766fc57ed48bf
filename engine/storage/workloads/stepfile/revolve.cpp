// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/revolve.hpp"

#include <algorithm>

namespace ullage {

std::uint64_t StepOrder::operator()(std::uint64_t index) const noexcept {
  if (kind_ == StepOrderKind::forward) return index;
  if (kind_ != StepOrderKind::stride) return steps_ - 1 - index;
  // The first classes of steps that are a stride apart have one step more than the others, unless all have as many.
  const std::uint64_t fewer = steps_ / stride_;
  const std::uint64_t longer_classes = steps_ % stride_;
  const std::uint64_t in_longer = longer_classes * (fewer + 1);
  if (index < in_longer) return index / (fewer + 1) + index % (fewer + 1) * stride_;
  return longer_classes + (index - in_longer) / fewer + (index - in_longer) % fewer * stride_;
}

namespace {

constexpr std::uint64_t most_counted = std::uint64_t{1} << 60;  // a binomial coefficient above it counts as this

/// C(checkpoints + repetitions, checkpoints): the most steps that can be reversed so.
std::uint64_t reach(std::uint64_t checkpoints, std::uint64_t repetitions) noexcept {
  std::uint64_t steps = 1;
  for (std::uint64_t r = 1; r <= repetitions; ++r) {
    if (steps > most_counted / (checkpoints + r)) return most_counted;
    steps = steps * (checkpoints + r) / r;
  }
  return steps;
}

/// Returns where to store next in a segment of `length` >= 2 steps with `slots` >= 2: both parts must then do with the
/// fewest repetitions.
std::uint64_t first_part(std::uint64_t length, std::uint64_t slots) noexcept {
  const std::uint64_t r = revolve_repetitions(length, slots);
  const std::uint64_t second = reach(slots - 1, r);
  const std::uint64_t least =
      std::max<std::uint64_t>(length > second ? length - second : 1, r < 2 ? 1 : reach(slots, r - 2));
  return std::min(least, length - 1);
}

}  // namespace

std::uint64_t revolve_repetitions(std::uint64_t steps, std::uint64_t checkpoints) noexcept {
  std::uint64_t r = 0;
  for (std::uint64_t range = 1;
       range<steps; range = range> most_counted / (checkpoints + r) ? most_counted : range * (checkpoints + r) / r)
    ++r;
  return r;
}

Revolve::Revolve(std::uint64_t steps, std::uint64_t checkpoints)
    : open_{{0, steps, 0, std::min(checkpoints, steps)}}, current_(0) {}

/// Restores the segment's first state where another one, or none, is at hand; else advances to `step`.
RevolveAction Revolve::lead_to(const Segment& from, std::uint64_t step) {
  const bool restores = !current_ || *current_ < from.begin || *current_ > step;
  current_ = restores ? from.begin : step;
  return restores ? RevolveAction{RevolveAction::Kind::restore, from.begin, from.slot}
                  : RevolveAction{RevolveAction::Kind::advance, step, 0};
}

std::optional<RevolveAction> Revolve::next() {
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

}  // namespace ullage
