// SPDX-License-Identifier: Apache-2.0
// The words of workload `b-eff-io`.
#pragma once

#include "storage/workloads/b_eff_io/patterns.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

struct BEffIoParameters {
  BEffIoType type = BEffIoType::scatter;
  BEffIoAccess access = BEffIoAccess::write;
  std::uint64_t lmax_bytes = std::uint64_t{2} << 20;
  double unit_s = 1;
  BEffIoRule rule = BEffIoRule::predicted;
  double overtime = 0;
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::string counts_of;
  std::vector<int> skip;
  bool shared_pointer = true;
  bool unique_open = true;
  Map hints;  // CHUNK/HINT: value
  Verify verify = Verify::full;
  AdviseCache cache = AdviseCache::none;

  [[nodiscard]] static Table<BEffIoParameters> table();

  [[nodiscard]] bool writes() const { return access != BEffIoAccess::read; }
  /// Patterns whose repetitions time decides.
  [[nodiscard]] bool is_time_driven() const { return access == BEffIoAccess::write && !is_segmented(type); }
  [[nodiscard]] bool skips(int pattern) const;
  /// `chunk`: on_open, or what BEffIoPattern::hint_chunk() says.
  [[nodiscard]] Map hints_of(const std::string& chunk) const;
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_b_eff_io(const BEffIoParameters& parameters, const Capabilities& capabilities,
                                    const std::string& pointer);
/// Room for what a first write makes; nothing for the other accesses.
[[nodiscard]] Needs needs_of_b_eff_io(const BEffIoParameters& parameters, const PlannedLayout& layout);

}  // namespace ullage
