// SPDX-License-Identifier: Apache-2.0
// What the phases of a repetition of workload `sar` share on one rank.
#pragma once

#include <cstdint>
#include <string>

#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/sar/sar.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

struct SarState {
  SarParameters parameters;
  SarShape shape;
  StorageContext context;
  Capabilities capabilities;
  DatasetEntry dataset;
  DataSource source;               // the rank whose raw data, images and detections this one reads
  std::uint64_t source_owner = 0;  // the rank whose images that one has read, so which those detections are of

  SarState(const SarParameters& given, const StorageContext& bound);

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context.world->rank()); }
  [[nodiscard]] std::uint64_t source_rank() const { return static_cast<std::uint64_t>(source.rank); }
  [[nodiscard]] const ImageGrid& files() const { return *dataset.grid; }
  [[nodiscard]] std::string in_dataset(const std::string& path) const { return dataset.directory + "/" + path; }
  /// Shared things are dealt out to the ranks that share the folder: this rank makes this one.
  [[nodiscard]] bool makes(std::uint64_t number) const {
    return number % static_cast<std::uint64_t>(context.parts) == static_cast<std::uint64_t>(context.part);
  }
};

/// Collective: finds the sources by where the ranks really run.
void find_sources(SarState& state);

}  // namespace ullage
