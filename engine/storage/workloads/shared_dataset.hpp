// SPDX-License-Identifier: Apache-2.0
// What workloads have in common around datasets that cases share, and around data that another rank has made.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "storage/manifest.hpp"
#include "work/workload.hpp"

namespace ullage {

/// Facts of the dataset the case names; an error when it is not there, or was not made with this layout.
[[nodiscard]] Result<nlohmann::json> facts_of_dataset(const WorkloadContext& context, const nlohmann::json& layout);

/// Collective: a tree's directory, listed, after what an earlier repetition left in it is removed.
[[nodiscard]] Status make_tree_dataset(const WorkloadContext& context, const DatasetEntry& entry);
/// Collective: every rank its part of the items, then one rank of each file system the rest.
[[nodiscard]] Status remove_tree_dataset(const WorkloadContext& context, const DatasetEntry& entry);

enum class ReadBack { own, other_rank, other_node };

/// Whose data a rank reads, and the word for it in records.
struct DataSource {
  int rank = 0;
  std::string data_of = "own";
};
/// Collective, by true topology; where there is no other node, the next rank stands for it.
[[nodiscard]] DataSource find_data_source(const mpi::World& world, ReadBack read_back, int shift);

}  // namespace ullage
