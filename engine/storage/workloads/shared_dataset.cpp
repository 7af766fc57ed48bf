// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/shared_dataset.hpp"

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_book.hpp"

namespace ullage {

Result<Json> facts_of_dataset(const WorkloadContext& context, const Json& layout) {
  const Json* facts = context.datasets->find(context.dataset);
  if (facts == nullptr) return fail(no_dataset(context.dataset));
  const Json made = facts->value("layout", Json());
  if (made != layout)
    return fail(environment_error("dataset '" + context.dataset + "'",
                                  "was made as " + json_text(made) + ", this case wants " + json_text(layout)));
  return *facts;
}

Status make_tree_dataset(const WorkloadContext& context, const DatasetEntry& entry) {
  if (context.stays())
    if (auto status = remove_tree_dataset(context, entry); !status) return status;
  if (!context.lists_datasets) return {};
  if (auto status = context.folder->list_dataset(entry); !status) return status;
  return context.backend->make_directory(entry.directory);
}

Status remove_tree_dataset(const WorkloadContext& context, const DatasetEntry& entry) {
  const mpi::Comm& all = context.world->all();
  all.barrier();
  Leftovers unsaid;  // what is left is found, and said, by the whole removal below
  if (context.parts > 1) context.folder->remove_dataset(entry, {context.part, context.parts, true}, unsaid);
  all.barrier();
  Leftovers leftovers;
  if (context.lists_datasets) context.folder->remove_dataset(entry, {}, leftovers);
  all.barrier();
  if (leftovers.left.empty()) return {};
  return fail(environment_error("", "could not be removed: " + leftovers.left.front()));
}

DataSource find_data_source(const mpi::World& world, ReadBack read_back, int shift) {
  DataSource source{world.rank(), "own"};
  if (read_back == ReadBack::own) return source;
  if (read_back == ReadBack::other_node) {
    const int other = world.rank_on_other_node(shift);
    if (other >= 0) return {other, "other-node"};
  }
  source.rank = (world.rank() + shift) % world.size();
  if (world.all().all(source.rank != world.rank())) source.data_of = "other-rank";
  return source;
}

}  // namespace ullage
