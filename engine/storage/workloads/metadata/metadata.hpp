// SPDX-License-Identifier: Apache-2.0
// The words of workload `metadata`, which are mdtest's where mdtest has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "storage/backend.hpp"
#include "storage/tree_shape.hpp"
#include "work/phase_work.hpp"

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
enum class MetadataCache { none, drop };
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
  MetadataCache cache = MetadataCache::none;
  MetadataVerify verify = MetadataVerify::full;

  [[nodiscard]] static const Table<MetadataParameters>& table();
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

}  // namespace ullage
