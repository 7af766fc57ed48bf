// SPDX-License-Identifier: Apache-2.0
// The words of workload `mixed-metadata`.
#pragma once

#include "storage/tree_shape.hpp"
#include "storage/workloads/metadata/mixed_pattern.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

enum class MixedMetadataPhaseKind { precreate, bench, cleanup };
[[nodiscard]] inline Words<MixedMetadataPhaseKind> words_of(MixedMetadataPhaseKind) {
  return {{MixedMetadataPhaseKind::precreate, "precreate"},
          {MixedMetadataPhaseKind::bench, "bench"},
          {MixedMetadataPhaseKind::cleanup, "cleanup"}};
}

struct MixedMetadataParameters {
  std::vector<MixedMetadataPhaseKind> phases{MixedMetadataPhaseKind::precreate, MixedMetadataPhaseKind::bench,
                                             MixedMetadataPhaseKind::cleanup};
  std::uint64_t sets = 10;
  std::uint64_t objects = 100;
  std::uint64_t object_bytes = 3901;
  std::uint64_t rounds = 100;
  std::uint64_t stat_share = 1;
  std::uint64_t read_share = 1;
  std::uint64_t delete_share = 1;
  std::uint64_t create_share = 1;
  VisitOrder order = VisitOrder::looped;
  std::uint64_t order_seed = 1;
  std::uint64_t stride = 0;
  double waiting_factor = 0;
  double stonewall_s = 0;
  bool wear_out = false;
  double wear_out_limit_s = 0;
  Verify verify = Verify::full;

  [[nodiscard]] static Table<MixedMetadataParameters> table();
  /// A directory for each set below one for each rank. The numbers of objects only grow.
  [[nodiscard]] TreeShape tree(std::uint64_t ranks) const;
  [[nodiscard]] MixedMetadataShape shape() const;
  [[nodiscard]] bool makes_dataset() const { return phases.front() == MixedMetadataPhaseKind::precreate; }
};

/// Rules that span parameters and the backend; the pointer is that of the parameters object.
[[nodiscard]] Status check_mixed_metadata(const MixedMetadataParameters& parameters, const Capabilities& capabilities,
                                          const std::string& pointer);

}  // namespace ullage
