// SPDX-License-Identifier: Apache-2.0
// Workload `transfer`: bulk data in IOR's model of segments, blocks and transfers.
#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_book.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/mixed_phase.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/phase.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

/// Every transfer once, at random; of the other parameters those that are a case's.
MixedTransferParameters mixed_of(const TransferParameters& p) {
  MixedTransferParameters mixed;
  mixed.transfer_bytes = p.transfer_bytes;
  mixed.operations = p.bytes_a_rank() / p.transfer_bytes;
  mixed.read_share = p.read_share;
  mixed.pick = Pick::permutation;
  mixed.seed = p.order_seed;
  mixed.read_back = p.read_back;
  mixed.read_shift = p.read_shift;
  mixed.sync = p.sync != SyncWhen::none;
  mixed.stonewall_s = p.stonewall_s;
  mixed.wear_out = p.wear_out;
  mixed.wear_out_limit_s = p.wear_out_limit_s;
  mixed.cache = p.cache;
  mixed.verify = p.verify == Verify::none ? MixedVerify::none : MixedVerify::kept;
  return mixed;
}

class Transfer final : public Workload {
 public:
  Transfer(const Values& values, const WorkloadContext& context)
      : parameters_(TransferParameters::from(values)), context_(context) {
    const bool per_process = parameters_.file_mode == FileMode::per_process;
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.dataset = {context.dataset_name(),
                      "c-" + context.dataset_name(),
                      per_process ? static_cast<std::uint64_t>(context.world->size()) : 1,
                      per_process,
                      parameters_.directory_per_process,
                      std::nullopt};
    state_.data_key = context.run_key;
    state_.capabilities = context.backend->capabilities();
  }

  [[nodiscard]] Status begin() override {
    find_source();
    Status status = check_alignment();
    if (!parameters_.makes_dataset()) return status ? find_dataset() : status;
    if (status && context_.stays()) status = remove_files();  // what the repetition before left
    if (status && state_.capabilities.data && context_.lists_datasets) status = make_dataset_directory();
    if (context_.world->all().any(!status) || !parameters_.directory_per_process || !state_.capabilities.data)
      return status;
    return context_.backend->make_directory(
        state_.dataset.directory_name(static_cast<std::uint64_t>(context_.world->rank())));
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    const PhaseKind kind = parameters_.phases[index];
    if (kind == PhaseKind::mixed) return mixed_phase();
    if (makes_new_data(kind)) ++state_.generation;
    return std::make_unique<TransferPhase>(state_, kind);
  }

  [[nodiscard]] Status end(bool whole) override {
    if (!state_.capabilities.data) return {};
    if (!context_.dataset.empty() && writes()) {
      const Status entered = whole ? enter_dataset() : context_.datasets->strike(context_.dataset);
      if (whole || !entered) return entered;
    }
    if (context_.keep || !parameters_.makes_dataset()) return {};
    Status status = remove_files();
    if (status && parameters_.directory_per_process)
      status = context_.backend->remove_directory(
          state_.dataset.directory_name(static_cast<std::uint64_t>(context_.world->rank())));
    context_.world->all().barrier();
    if (context_.lists_datasets && status) status = context_.backend->remove_directory(state_.dataset.directory);
    return status;
  }

 private:
  [[nodiscard]] bool writes() const {
    return std::ranges::any_of(parameters_.phases,
                               [](PhaseKind kind) { return kind == PhaseKind::write || kind == PhaseKind::rewrite; });
  }

  /// Writing one transfer of many again and again writes what is there already: the data stays of one generation.
  [[nodiscard]] bool makes_new_data(PhaseKind kind) const {
    const bool writes = kind == PhaseKind::write || kind == PhaseKind::rewrite;
    return writes && parameters_.order_of(kind) != Order::repeat;
  }

  [[nodiscard]] std::unique_ptr<PhaseWork> mixed_phase() {
    mixed_parameters_ = mixed_of(parameters_);
    mixed_.parameters = &mixed_parameters_;
    mixed_.context = &context_;
    mixed_.dataset = state_.dataset;
    mixed_.capabilities = state_.capabilities;
    mixed_.source_rank = state_.source_rank;
    mixed_.data_of = state_.data_of;
    mixed_.written = parameters_.shape(static_cast<std::uint64_t>(context_.world->size()));
    mixed_.written.order = parameters_.order_of(PhaseKind::write);
    mixed_.written_operations = state_.readable_operations;
    mixed_.payload = state_.payload_spec(TransferPattern(mixed_.written, 0).file_bytes());
    return std::make_unique<MixedTransferPhase>(mixed_);
  }

  /// What every case that works on these files must have in common.
  [[nodiscard]] Json layout() const {
    const TransferShape shape = parameters_.shape(static_cast<std::uint64_t>(context_.world->size()));
    return {{"ranks", shape.ranks},
            {"transfer_bytes", shape.transfer_bytes},
            {"block_bytes", shape.block_bytes},
            {"segments", shape.segments},
            {"per_process", state_.dataset.per_process},
            {"directory_per_process", state_.dataset.directory_per_process},
            {"compress_ratio", parameters_.compress_ratio},
            {"dedup_ratio", parameters_.dedup_ratio}};
  }

  [[nodiscard]] Json order() const {
    return {{"order", static_cast<int>(parameters_.order)},
            {"stride", parameters_.stride},
            {"order_seed", parameters_.order_seed}};
  }

  [[nodiscard]] Status find_dataset() {
    const auto facts = facts_of_dataset(context_, layout());
    if (!facts) return fail(facts.error());
    state_.data_key = (*facts)["key"];
    state_.generation = (*facts)["generation"];
    state_.readable_operations = (*facts)["operations"];
    // A wall left the last operations of every rank out, and which those are follows from the order.
    const bool is_short = state_.readable_operations < parameters_.bytes_a_rank() / parameters_.transfer_bytes;
    if (is_short && (*facts)["order"] != order())
      return fail(environment_error("order", "must be that of the case that made dataset '" + context_.dataset +
                                                 "', which was cut short: " + json_text((*facts)["order"])));
    return {};
  }

  [[nodiscard]] Status enter_dataset() const {
    return context_.datasets->enter(context_.dataset, {{"workload", "transfer"},
                                                       {"layout", layout()},
                                                       {"order", order()},
                                                       {"key", state_.data_key},
                                                       {"generation", state_.generation},
                                                       {"operations", state_.readable_operations}});
  }

  /// Each rank its own file, or one rank of each file system the shared one. A file that is not there is no error.
  [[nodiscard]] Status remove_files() const {
    if (!state_.capabilities.data) return {};
    if (parameters_.file_mode == FileMode::per_process)
      return context_.backend->remove_file(
          state_.dataset.file_name(static_cast<std::uint64_t>(context_.world->rank())));
    return context_.lists_datasets ? context_.backend->remove_file(state_.dataset.file_name(0)) : Status{};
  }

  [[nodiscard]] Status make_dataset_directory() const {
    if (auto status = context_.folder->list_dataset(state_.dataset); !status) return status;
    return context_.backend->make_directory(state_.dataset.directory);
  }

  /// O_DIRECT's alignment is known only now that the target is: a wrong size is refused, not rounded.
  [[nodiscard]] Status check_alignment() const {
    const std::uint64_t alignment = state_.capabilities.alignment_bytes;
    if (parameters_.transfer_bytes % alignment == 0) return {};
    return fail(environment_error("transfer_bytes", "is " + std::to_string(parameters_.transfer_bytes) +
                                                        ", but direct I/O here needs a multiple of " +
                                                        std::to_string(alignment)));
  }

  /// Collective.
  void find_source() {
    DataSource source = find_data_source(*context_.world, parameters_.read_back, parameters_.read_shift);
    state_.source_rank = source.rank;
    state_.data_of = std::move(source.data_of);
  }

  TransferParameters parameters_;
  WorkloadContext context_;
  TransferState state_;
  MixedTransferParameters mixed_parameters_;
  MixedTransferState mixed_;
};

Needs needs_of(const Values& values, const PlannedLayout& layout) {
  const auto parameters = TransferParameters::from(values);
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const bool per_process = parameters.file_mode == FileMode::per_process;
  const std::uint64_t files = per_process ? ranks * (parameters.directory_per_process ? 2 : 1) : 1;
  return {parameters.bytes_a_rank() * ranks, files + 4};  // folder, marker, manifest, dataset directory
}

const Registered<WorkloadEntry> registered_transfer{{
    {"transfer",
     "bulk writes and reads of large files, in IOR's model of segments, blocks and transfers",
     specs_of(TransferParameters::table()),
     {},
     {}},
    [](const Values& values, const Capabilities& capabilities, const PlannedLayout& layout,
       const std::string& pointer) {
      return check_transfer(TransferParameters::from(values), capabilities, layout, pointer);
    },
    needs_of,
    [](const Values& values, const WorkloadContext& context) { return std::make_unique<Transfer>(values, context); },
    [](const Values& values) { return !TransferParameters::from(values).makes_dataset(); },
}};

}  // namespace
}  // namespace ullage
