// SPDX-License-Identifier: Apache-2.0
// The words of workload `stepfile`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/step_shape.hpp"
#include "storage/workloads/stepfile/revolve.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class StepSync { none, close, fsync, every };
enum class StepCache { none, drop };
enum class StepVerify { none, full };

struct StepfileParameters {
  std::uint64_t steps = 100;
  std::uint64_t state_bytes = std::uint64_t{4} << 20;
  StepOrderKind order = StepOrderKind::reverse;
  std::uint64_t stride = 2;
  std::uint64_t checkpoints = 10;
  StepLayout layout = StepLayout::dir_per_rank;
  std::uint64_t hash_levels = 2;
  double compute_s = 0;
  double jitter = 0;
  double imbalance = 0;
  std::uint64_t write_behind = 0;
  std::uint64_t prefetch = 0;
  StepSync sync = StepSync::none;
  std::uint64_t sync_every = 16;
  bool remove_read = false;
  StepCache cache = StepCache::none;
  StepVerify verify = StepVerify::full;

  static constexpr std::uint64_t most_depth = 1024;

  [[nodiscard]] static const Table<StepfileParameters>& table();

  [[nodiscard]] bool revolves() const { return order == StepOrderKind::revolve; }
  [[nodiscard]] bool in_log() const { return layout == StepLayout::log; }
  /// States of a rank that have a file, or a place in the log.
  [[nodiscard]] std::uint64_t kept() const { return revolves() ? std::min(checkpoints, steps) : steps; }
  [[nodiscard]] StepShape shape(std::uint64_t ranks) const { return {ranks, kept(), layout, hash_levels}; }
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_stepfile(const StepfileParameters& parameters, const Capabilities& capabilities,
                                    const std::string& pointer);
[[nodiscard]] Needs needs_of_stepfile(const StepfileParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
