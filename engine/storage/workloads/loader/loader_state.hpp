// SPDX-License-Identifier: Apache-2.0
// What the phases of workload `loader` share on one rank.
#pragma once

#include <bit>

#include "base/std.hpp"
#include "storage/manifest.hpp"
#include "storage/position_contents.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/loader/loader.hpp"
#include "storage/workloads/loader/sample_files.hpp"

namespace ullage {

/// Sums over the epochs so far, of all accelerators of this rank, without their first steps.
struct TrainingTotals {
  double compute_s = 0;
  double run_s = 0;
};

struct LoaderState {
  const LoaderParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;
  SampleFiles files{SampleSetSpec{}};
  std::uint64_t data_key = 0;
  SampleReaders readers;
  /// Says whose files this node has written, by SampleFiles::group_of; nothing where others than these nodes wrote
  /// them.
  std::optional<std::uint64_t> own_group;
  TrainingTotals totals;

  /// Contents are those of one long file, in which the files lie at equal distances: so one that lies in another's
  /// place is found.
  [[nodiscard]] std::uint64_t position_of(std::uint64_t file, std::uint64_t offset_bytes) const {
    return file * std::bit_ceil(files.sizes().largest() * files.spec().samples_per_file) + offset_bytes;
  }
  [[nodiscard]] PositionContents contents() const { return PositionContents(data_key); }
  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context->world->rank()); }
  [[nodiscard]] std::uint64_t ranks() const { return static_cast<std::uint64_t>(context->world->size()); }
  [[nodiscard]] std::uint64_t accelerators() const { return parameters->accelerators_of(ranks()); }
  /// Those of this rank: rank r has accelerator r, and each one that lies `ranks` further.
  [[nodiscard]] std::uint64_t own_accelerators() const {
    return accelerators() / ranks() + (rank() < accelerators() % ranks() ? 1 : 0);
  }
  /// The number that SampleOrder knows the `index`-th accelerator of this rank by.
  [[nodiscard]] std::uint64_t number_of(std::uint64_t index) const {
    if (!readers.by_node) return rank() + index * ranks();
    const mpi::Topology& place = context->world->topology();
    const std::uint64_t a_node = accelerators() / static_cast<std::uint64_t>(place.nodes);
    return static_cast<std::uint64_t>(place.node) * a_node + static_cast<std::uint64_t>(place.rank_on_node) +
           index * static_cast<std::uint64_t>(place.ranks_on_node);
  }
};

[[nodiscard]] std::unique_ptr<PhaseWork> make_epoch_phase(LoaderState& state, std::uint64_t epoch);

}  // namespace ullage
