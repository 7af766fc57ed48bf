// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/order.hpp"

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

}  // namespace ullage
