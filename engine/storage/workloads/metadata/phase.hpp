// SPDX-License-Identifier: Apache-2.0
// One phase of workload `metadata` on one rank: over items, or over the directories of the tree.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "base/permutation.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/metadata/batch.hpp"
#include "storage/workloads/metadata/metadata.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

/// Holds what every phase of a repetition shares on this rank; changed by the phases that make, rename or remove.
struct MetadataState {
  const MetadataParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  TreeShape shape;
  DatasetEntry dataset;
  std::uint64_t data_key = 0;  // of this dataset
  std::uint64_t items = 0;     // of every rank that are there
  bool has_tree = false;
  bool renamed = false;
  bool partly_removed = false;  // a removing phase was cut short: which items are left is not known
  std::map<MetadataPhaseKind, DataSource> sources = {};  // whose items a phase uses; its own where none stands here
};

/// Collective: finds the sources of all phases, by true topology where there are several nodes, else by rank.
void find_sources(MetadataState& state);

class MetadataPhase final : public PhaseWork {
 public:
  MetadataPhase(MetadataState& state, MetadataPhaseKind kind);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status allocate() override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] bool wants_sync() const override;
  [[nodiscard]] Status sync() override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  void add_facts(nlohmann::json& facts) const override {
    if (makes()) add_new_file_cost(*state_.context, state_.dataset, facts);
  }

 private:
  [[nodiscard]] const MetadataParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool is_over_items() const;
  [[nodiscard]] bool makes() const { return kind_ == MetadataPhaseKind::create || kind_ == MetadataPhaseKind::mkdir; }
  [[nodiscard]] std::size_t data_bytes() const;
  [[nodiscard]] std::uint64_t slots() const;
  [[nodiscard]] bool writes_data() const { return kind_ == MetadataPhaseKind::create && data_bytes() > 0; }
  [[nodiscard]] bool verifies(MetadataVerify how) const;
  [[nodiscard]] std::uint64_t item_at(std::uint64_t operation) const;
  [[nodiscard]] std::uint64_t directory_at(std::uint64_t operation) const;
  [[nodiscard]] bool has_directories_to_make() const;
  void make_room();
  void name_items(std::uint64_t first, std::uint64_t most);
  [[nodiscard]] Status add_item(std::uint64_t operation);
  [[nodiscard]] Status add_directory(std::uint64_t operation);
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t index);
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t item) const;
  [[nodiscard]] std::span<const MetadataItem> ready() const { return items_.subspan(begin_, count_); }
  [[nodiscard]] Status perform(std::span<const MetadataItem> items, Meter& meter);
  [[nodiscard]] Status read_and_check(Meter& meter);
  [[nodiscard]] Status read_again(std::uint64_t executed, Meter& progress);
  void note(const Status& status);
  void check(std::uint64_t item);
  [[nodiscard]] Error wrong_item(std::uint64_t item, std::span<const std::byte> found, std::size_t at) const;
  [[nodiscard]] Status sync_directories();
  void trim(std::uint64_t executed);

  MetadataState& state_;
  MetadataPhaseKind kind_;
  std::uint64_t source_ = 0;  // the rank whose items this phase uses
  std::string data_of_;
  Permutation order_;
  Payload payload_;
  std::unique_ptr<MetadataApi> api_;
  std::unique_ptr<MetadataBatch> batch_;
  std::unique_ptr<ItemNames> names_;      // of the items
  std::unique_ptr<ItemNames> new_names_;  // that they get by renaming
  struct Entered {
    std::uint64_t number = 0;
    int handle = -1;
  };
  std::optional<Entered> entered_;       // the directory that was asked for last
  std::span<const MetadataItem> items_;  // that have their names
  std::uint64_t first_named_ = 0;        // operation
  std::size_t begin_ = 0;                // of items_: those that execute() is to do
  std::size_t count_ = 0;
  Status prepared_;  // what went wrong while a batch was made ready: execute() returns it
  std::vector<std::byte> expected_;
  Verification verification_;
};

}  // namespace ullage
