// SPDX-License-Identifier: Apache-2.0
// The words of workload `metadata`, which are mdtest's where mdtest has one.
#pragma once

#include <map>

#include "base/count.hpp"
#include "storage/tree_shape.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

enum class MetadataPhaseKind {
  tree_create,
  mkdir,
  create,
  stat,
  read,
  rename,
  readdir,
  chmod,
  truncate,
  open,
  unlink,
  rmdir,
  tree_remove,
};
enum class ItemKind { file, directory };
enum class ItemOrder { sequential, random };
enum class MetadataSync { none, file, directory, filesystem };
enum class MetadataVerify { none, full, timed };

struct MetadataParameters {
  std::vector<MetadataPhaseKind> phases{MetadataPhaseKind::tree_create, MetadataPhaseKind::create,
                                        MetadataPhaseKind::stat, MetadataPhaseKind::unlink,
                                        MetadataPhaseKind::tree_remove};
  ItemKind item = ItemKind::file;
  std::uint64_t items = 1000;
  std::uint64_t items_per_directory = 0;
  std::uint64_t depth = 0;
  std::uint64_t branching = 1;
  bool leaf_only = false;
  bool unique_directory = false;
  std::uint64_t write_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t stride = 0;
  ItemOrder order = ItemOrder::sequential;
  std::uint64_t order_seed = 1;
  double stonewall_s = 0;
  bool wear_out = false;
  double wear_out_limit_s = 0;
  MetadataSync sync = MetadataSync::none;
  DropCache cache = DropCache::none;
  MetadataVerify verify = MetadataVerify::full;

  [[nodiscard]] static Table<MetadataParameters> table();
  [[nodiscard]] TreeShape shape(std::uint64_t ranks) const;
  [[nodiscard]] bool makes_dataset() const { return phases.front() == MetadataPhaseKind::tree_create; }
};

/// Rules that span parameters, the backend and the layout; the pointer is that of the parameters object.
[[nodiscard]] Status check_metadata(const MetadataParameters& parameters, const Capabilities& capabilities,
                                    const PlannedLayout& layout, const std::string& pointer);

[[nodiscard]] std::string word(MetadataPhaseKind kind);
/// Returns what a phase does to each of its items; tree phases make and remove directories.
[[nodiscard]] MetadataOperation operation_of(MetadataPhaseKind kind);
/// mdtest's place of the phase in its row of strides: 0 create, 1 stat and its like, 2 read, 3 unlink and rmdir.
[[nodiscard]] std::uint64_t strides_of(MetadataPhaseKind kind);
[[nodiscard]] bool changes_names(MetadataPhaseKind kind);

/// Holds what every phase of a repetition shares on this rank; changed by the phases that make, rename or remove.
struct MetadataState {
  const MetadataParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  TreeShape shape;
  DatasetEntry dataset;
  std::uint64_t data_key = 0;  // of this dataset
  std::uint64_t items = 0;     // of every rank that are there
  bool has_tree = false;
  bool renamed = false;
  bool partly_removed = false;  // a removing phase was cut short: which items are left is not known
  std::map<MetadataPhaseKind, DataSource> sources = {};  // whose items a phase uses; its own where none stands here
};

/// Collective: finds the sources of all phases, by true topology where there are several nodes, else by rank.
inline void find_sources(MetadataState& state) {
  for (const MetadataPhaseKind kind : state.parameters->phases) {
    const auto shift = static_cast<int>(state.parameters->stride * strides_of(kind));
    state.sources[kind] =
        find_data_source(*state.context->world, shift == 0 ? ReadBack::own : ReadBack::other_node, shift);
  }
}

inline PayloadSpec payload_spec(const MetadataState& state) {
  return {.run_key = state.data_key,
          .transfer_bytes = round_up(std::max<std::uint64_t>(state.parameters->write_bytes, 8), std::uint64_t{8})};
}

}  // namespace ullage
