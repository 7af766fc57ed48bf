// SPDX-License-Identifier: Apache-2.0
// A dataset of transfers: as the book of its target knows it, and its files as one rank knows them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/payload.hpp"
#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/pattern.hpp"
#include "work/phase_work.hpp"

namespace ullage {

struct TransferDataset {
  TransferShape written;  // but for the order, which the facts have besides
  bool directory_per_process = false;
  double compress_ratio = 1;
  double dedup_ratio = 1;
  std::uint64_t key = 0;         // of this dataset
  std::uint64_t generation = 0;  // of the data: +1 with each writing phase
  std::uint64_t operations = 0;  // of each rank that are there

  [[nodiscard]] static TransferDataset from(const nlohmann::json& facts);
  /// Returns what every case that works on these files must have in common.
  [[nodiscard]] nlohmann::json layout() const;
  [[nodiscard]] nlohmann::json facts(const nlohmann::json& order) const;

  [[nodiscard]] DatasetEntry entry(const std::string& name) const;
  [[nodiscard]] PayloadSpec payload() const;
};

// The files of a dataset that transfers go to or come from, as one rank knows them: what both workloads over such files
// have in common.

struct TransferFiles {
  const StorageContext* context = nullptr;
  DatasetEntry dataset;
  Capabilities capabilities;
  int source_rank = 0;  // whose data this rank reads or works on
  std::string data_of = "own";

  [[nodiscard]] std::string file_of(int rank) const;
  /// This rank says how much of the file is in its node's cache.
  [[nodiscard]] bool looks() const;
  /// Collective: settles whose data this rank works on.
  void find_source(ReadBack read_back, int shift);
  /// Collective, also for a rank in error: what is cached of the files is dropped as far as `cache` says.
  [[nodiscard]] Status control_cache(CacheControl cache) const;
  /// Returns what the backend knows after a phase, besides what its file has said.
  [[nodiscard]] Map hints_granted(Map of_file) const;
};

}  // namespace ullage
