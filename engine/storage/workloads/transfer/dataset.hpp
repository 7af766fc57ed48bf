// SPDX-License-Identifier: Apache-2.0
// A dataset of transfers as the book of its target knows it: how it lies in its files, and which data is in them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/payload.hpp"
#include "storage/manifest.hpp"
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

  [[nodiscard]] static TransferDataset from(const nlohmann::json& facts);
  /// Returns what every case that works on these files must have in common.
  [[nodiscard]] nlohmann::json layout() const;
  [[nodiscard]] nlohmann::json facts(const nlohmann::json& order) const;

  [[nodiscard]] DatasetEntry entry(const std::string& name) const;
  [[nodiscard]] PayloadSpec payload() const;
};

}  // namespace ullage
