// SPDX-License-Identifier: Apache-2.0
// A dataset of transfers: as the book of its target knows it, and its files as one rank knows them.
#pragma once

#include "storage/node_caches.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/pattern.hpp"

namespace ullage {

struct TransferDataset {
  TransferShape written;  // but for the order, which the facts have besides
  bool directory_per_process = false;
  double compress_ratio = 1;
  double dedup_ratio = 1;
  std::uint64_t key = 0;         // of this dataset
  std::uint64_t generation = 0;  // of the data: +1 with each writing phase
  std::uint64_t operations = 0;  // of each rank that are there

  [[nodiscard]] static TransferDataset from(const Json& facts) {
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

  /// Returns what every case that works on these files must have in common.
  [[nodiscard]] nlohmann::json layout() const {
    return {{"ranks", written.ranks},
            {"transfer_bytes", written.transfer_bytes},
            {"block_bytes", written.block_bytes},
            {"segments", written.segments},
            {"per_process", written.file_mode == FileMode::per_process},
            {"directory_per_process", directory_per_process},
            {"compress_ratio", compress_ratio},
            {"dedup_ratio", dedup_ratio}};
  }

  [[nodiscard]] nlohmann::json facts(const Json& order) const {
    return {{"workload", "transfer"},   {"layout", layout()},      {"order", order}, {"key", key},
            {"generation", generation}, {"operations", operations}};
  }

  [[nodiscard]] DatasetEntry entry(const std::string& name) const {
    const bool per_process = written.file_mode == FileMode::per_process;
    return {name,        directory_of_dataset(name), per_process ? written.ranks : 1,
            per_process, directory_per_process,      std::nullopt};
  }

  [[nodiscard]] PayloadSpec payload() const {
    return {.run_key = mix64(key ^ generation),
            .transfer_bytes = written.transfer_bytes,
            .compress_ratio = compress_ratio,
            .dedup_ratio = dedup_ratio,
            .file_bytes = TransferPattern(written, 0).file_bytes(),
            .shared_file = written.file_mode == FileMode::shared};
  }
};

// The files of a dataset that transfers go to or come from, as one rank knows them: what both workloads over such files
// have in common.

struct TransferFiles {
  const StorageContext* context = nullptr;
  DatasetEntry dataset;
  Capabilities capabilities;
  int source_rank = 0;  // whose data this rank reads or works on
  std::string data_of = "own";

  [[nodiscard]] std::string file_of(int rank) const {
    return dataset.file_name(dataset.per_process ? static_cast<std::uint64_t>(rank) : 0);
  }

  /// This rank says how much of the file is in its node's cache.
  [[nodiscard]] bool looks() const {
    return capabilities.data && (dataset.per_process || context->world->topology().leader());
  }

  /// Collective: settles whose data this rank works on.
  void find_source(ReadBack read_back, int shift) {
    DataSource source = find_data_source(*context->world, read_back, shift);
    source_rank = source.rank;
    data_of = std::move(source.data_of);
  }

  /// Collective, also for a rank in error: what is cached of the files is dropped as far as `cache` says.
  [[nodiscard]] Status control_cache(CacheControl cache) const {
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
};

}  // namespace ullage
