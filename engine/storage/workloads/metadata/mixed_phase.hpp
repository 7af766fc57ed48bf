// SPDX-License-Identifier: Apache-2.0
// One phase of workload `mixed-metadata` on one rank: sets are filled, worked on, or emptied.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/payload.hpp"
#include "storage/pacer.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/metadata/batch.hpp"
#include "storage/workloads/metadata/mixed_metadata.hpp"
#include "storage/workloads/metadata/mixed_pattern.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/phase_work.hpp"
#include "work/workload.hpp"

namespace ullage {

/// Holds what every phase of a repetition shares on this rank. The sets of all ranks are alike: `objects` files from
/// number `first` on.
struct MixedMetadataState {
  const MixedMetadataParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  TreeShape tree;
  DatasetEntry dataset;
  std::uint64_t data_key = 0;  // of this dataset
  std::uint64_t first = 0;
  std::uint64_t benches = 0;  // done on this dataset
  bool has_sets = false;
};

class MixedMetadataPhase final : public PhaseWork {
 public:
  MixedMetadataPhase(MixedMetadataState& state, MixedMetadataPhaseKind kind);

  [[nodiscard]] PhaseInfo info() const override;
  [[nodiscard]] Status before() override;
  [[nodiscard]] std::uint64_t operations() const override;
  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override;
  [[nodiscard]] Status open() override;
  [[nodiscard]] Status execute(Meter& meter) override;
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override;
  [[nodiscard]] Counters counters() const override;
  void add_facts(nlohmann::json& facts) const override {
    if (!benches()) add_new_file_cost(*state_.context, state_.dataset, facts);
  }

 private:
  using Kind = MixedMetadataShape::Kind;
  using Step = MixedMetadataPattern::Step;
  [[nodiscard]] const MixedMetadataParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool benches() const { return kind_ == MixedMetadataPhaseKind::bench; }
  void find_source();
  [[nodiscard]] std::uint64_t batch_size() const;
  [[nodiscard]] std::size_t slot_bytes() const;
  [[nodiscard]] std::span<std::byte> slot(std::size_t index);
  [[nodiscard]] std::string directory_of(std::uint64_t set) const;
  [[nodiscard]] Step step_at(std::uint64_t operation) const;
  [[nodiscard]] Status add(const Step& step);
  [[nodiscard]] std::uint64_t offset_of(const Step& step) const;
  [[nodiscard]] Status bench(Meter& meter);
  void pause(std::int64_t took_ns, Meter& meter) const;
  void check_batch();
  void check(const Step& step, std::span<const std::byte> found);
  [[nodiscard]] Error wrong_object(const Step& step, Mismatch mismatch) const;
  [[nodiscard]] Status settle(std::uint64_t executed, Meter& progress);
  [[nodiscard]] Status settle_one(const Step& step, Meter& progress);

  MixedMetadataState& state_;
  MixedMetadataPhaseKind kind_;
  std::uint64_t source_ = 0;  // the rank whose sets this phase works on; from before() on
  bool by_node_ = false;      // ranks move on from node to node, and else from rank to rank
  std::uint64_t circle_ = 1;  // so many of them
  std::string data_of_ = "own";
  MixedMetadataPattern pattern_;
  Payload payload_;
  std::unique_ptr<MetadataApi> api_;
  std::unique_ptr<MetadataBatch> batch_;
  std::optional<Pacer> pacer_;
  Status prepared_;  // what went wrong while a batch was made ready: execute() returns it
  std::vector<Step> steps_;
  std::uint64_t batch_done_ = 0;
  std::array<std::uint64_t, MixedMetadataShape::kinds> done_{};
  Meter calls_;  // of single operations, whose parts are not this phase's parts
  std::vector<std::byte> expected_;
  Verification verification_;
};

}  // namespace ullage
