// SPDX-License-Identifier: Apache-2.0
// In which order the adjoint phase needs the states of the steps. Pure.
#pragma once

#include <cstdint>

namespace ullage {

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

}  // namespace ullage
