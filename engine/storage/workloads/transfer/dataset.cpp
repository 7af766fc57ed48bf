// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/transfer/dataset.hpp"

#include "base/json.hpp"

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

}  // namespace ullage
