// SPDX-License-Identifier: Apache-2.0
// The words of workload `overlap`.
#pragma once

#include <cstdint>
#include <string>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/workloads/overlap/shape.hpp"
#include "work/layout.hpp"
#include "work/workload.hpp"

namespace ullage {

enum class OverlapMethod { threads, nonblocking };
enum class OverlapCache { none, drop };
enum class OverlapVerify { none, full };

struct OverlapParameters {
  OverlapMethod method = OverlapMethod::threads;
  std::uint64_t transfer_bytes = std::uint64_t{1} << 20;
  std::uint64_t depth = 4;
  std::uint64_t batches = 4;
  std::uint64_t rounds = 4;
  std::uint64_t tests = 0;
  double computation = 1;
  std::uint64_t blocks = 0;
  bool read = true;
  bool sync = true;
  OverlapCache cache = OverlapCache::none;
  OverlapVerify verify = OverlapVerify::full;

  static constexpr std::uint64_t most_helpers = 64;
  static constexpr std::uint64_t most_depth = 1024;

  [[nodiscard]] static const Table<OverlapParameters>& table();
  [[nodiscard]] static OverlapParameters from(const Values& values) { return bind_parameters(table(), values); }
  [[nodiscard]] OverlapShape shape() const { return {transfer_bytes, depth, batches, rounds}; }
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_overlap(const OverlapParameters& parameters, const Capabilities& capabilities,
                                   const std::string& pointer);
[[nodiscard]] Needs needs_of_overlap(const OverlapParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
