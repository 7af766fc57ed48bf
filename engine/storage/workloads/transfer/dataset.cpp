// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/dataset.hpp"

#include <utility>

#include "base/json.hpp"
#include "storage/node_caches.hpp"

namespace ullage {

TransferDataset TransferDataset::from(const Json& facts) {
  const Json& layout = facts["layout"];
  TransferDataset dataset;
  dataset.written.ranks = layout["ranks"];
  dataset.written.transfer_bytes = layout["transfer_bytes"];
  dataset.written.block_bytes = layout["block_bytes"];
  dataset.written.segments = layout["segments"];
  dataset.written.file_mode = layout["per_process"].get<bool>() ? FileMode::per_process : FileMode::shared;
  dataset.directory_per_process = layout["directory_per_process"];
  dataset.compress_ratio = layout["compress_ratio"];
  dataset.dedup_ratio = layout["dedup_ratio"];
  dataset.key = facts["key"];
  dataset.generation = facts["generation"];
  dataset.operations = facts["operations"];
  return dataset;
}

Json TransferDataset::layout() const {
  return {{"ranks", written.ranks},
          {"transfer_bytes", written.transfer_bytes},
          {"block_bytes", written.block_bytes},
          {"segments", written.segments},
          {"per_process", written.file_mode == FileMode::per_process},
          {"directory_per_process", directory_per_process},
          {"compress_ratio", compress_ratio},
          {"dedup_ratio", dedup_ratio}};
}

Json TransferDataset::facts(const Json& order) const {
  return {{"workload", "transfer"},   {"layout", layout()},      {"order", order}, {"key", key},
          {"generation", generation}, {"operations", operations}};
}

DatasetEntry TransferDataset::entry(const std::string& name) const {
  const bool per_process = written.file_mode == FileMode::per_process;
  return {name,        directory_of_dataset(name), per_process ? written.ranks : 1,
          per_process, directory_per_process,      std::nullopt};
}

PayloadSpec TransferDataset::payload() const {
  PayloadSpec spec;
  spec.run_key = mix64(key ^ generation);
  spec.transfer_bytes = written.transfer_bytes;
  spec.compress_ratio = compress_ratio;
  spec.dedup_ratio = dedup_ratio;
  spec.file_bytes = TransferPattern(written, 0).file_bytes();
  spec.shared_file = written.file_mode == FileMode::shared;
  return spec;
}

std::string TransferFiles::file_of(int rank) const {
  return dataset.file_name(dataset.per_process ? static_cast<std::uint64_t>(rank) : 0);
}

bool TransferFiles::looks() const {
  return capabilities.data && (dataset.per_process || context->world->topology().leader());
}

void TransferFiles::find_source(ReadBack read_back, int shift) {
  DataSource source = find_data_source(*context->world, read_back, shift);
  source_rank = source.rank;
  data_of = std::move(source.data_of);
}

Status TransferFiles::control_cache(CacheControl cache) const {
  const mpi::World& world = *context->world;
  Status status;
  if (cache != CacheControl::none && !capabilities.direct) {
    const int own = world.rank();
    if (dataset.per_process) {
      status = context->backend->drop_cached(file_of(own));
      if (source_rank != own) keep_first(status, context->backend->drop_cached(file_of(source_rank)));
    } else if (world.topology().leader()) {
      status = context->backend->drop_cached(file_of(source_rank));
    }
  }
  world.all().barrier();
  if (cache == CacheControl::drop && world.topology().leader())
    keep_first(status, drop_node_caches(CachesToDrop::pages));
  return status;
}

Map TransferFiles::hints_granted(Map of_file) const {
  of_file.merge(context->backend->hints_granted());
  return of_file;
}

}  // namespace ullage
