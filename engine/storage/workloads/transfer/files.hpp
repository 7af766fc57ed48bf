// SPDX-License-Identifier: Apache-2.0
// The files of a dataset that transfers go to or come from, as one rank knows them: what both workloads over such files
// have in common.
#pragma once

#include <string>

#include "storage/backend.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "work/phase_work.hpp"

namespace ullage {

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

inline void keep_first(Status& first, const Status& next) {
  if (first && !next) first = next;
}

}  // namespace ullage
