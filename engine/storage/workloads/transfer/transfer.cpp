// SPDX-License-Identifier: Apache-2.0
// Workload `transfer`: bulk data in IOR's model of segments, blocks and transfers.

#include "base/affinity.hpp"
#include "memory/numa.hpp"
#include "storage/target_space.hpp"
#include "storage/workloads/numa_path.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/dataset.hpp"
#include "storage/workloads/transfer/mixed_transfer.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/phase.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

/// Every transfer once, at random; of the other parameters those that are a case's.
MixedTransferParameters mixed_of(const TransferParameters& p) {
  return {.transfer_bytes = p.transfer_bytes,
          .operations = p.bytes_a_rank() / p.transfer_bytes,
          .read_share = p.read_share,
          .pick = Pick::permutation,
          .seed = p.order_seed,
          .read_back = p.read_back,
          .read_shift = p.read_shift,
          .sync = p.sync != SyncWhen::none,
          .stonewall_s = p.stonewall_s,
          .wear_out = p.wear_out,
          .wear_out_limit_s = p.wear_out_limit_s,
          .cache = p.cache,
          .verify = p.verify == Verify::none ? Verify::none : Verify::kept};
}

class Transfer final : public Workload {
 public:
  Transfer(const TransferParameters& parameters, const StorageContext& context)
      : parameters_(parameters), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.dataset = made().entry(context.dataset_name());
    state_.data_key = context.run_key;
    state_.capabilities = context.backend->capabilities();
  }
  /// Later cases do not get memory that lies where this one wanted it.
  ~Transfer() override {
    if (parameters_.places_ranks()) *context_.buffer = AlignedBuffer();
  }

  void find_peers() override { state_.find_source(parameters_.read_back, parameters_.read_shift); }

  [[nodiscard]] LocalSteps begin() override {
    LocalSteps steps{{"check alignment", [this] {
                        return check_direct_size("transfer_bytes", parameters_.transfer_bytes, state_.capabilities);
                      }}};
    if (parameters_.places_ranks()) steps.push_back({"place this rank", [this] { return place_rank(); }});
    if (!parameters_.makes_dataset()) {
      steps.push_back({"find dataset", [this] { return find_dataset(); }});
      return steps;
    }
    if (!state_.capabilities.data) return steps;
    if (context_.stays()) steps.push_back({"remove what is there", [this] { return remove_files(); }});
    steps.push_back({"make directory", [this] { return make_dataset_directory(); }});
    if (parameters_.directory_per_process)
      steps.push_back({"make own directory", [this] { return context_.backend->make_directory(own_directory()); }});
    return steps;
  }

  [[nodiscard]] std::size_t phases() const override { return parameters_.phases.size(); }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t index) override {
    const PhaseKind kind = parameters_.phases[index];
    if (kind == PhaseKind::mixed) return mixed_phase();
    if (makes_new_data(kind)) ++state_.generation;
    const MemoryFrom memory(parameters_.buffer_node);
    auto phase = std::make_unique<TransferPhase>(state_, kind);
    // Else the kernel may move its pages to the node of the rank (NUMA balancing). Where they are is recorded.
    if (parameters_.buffer_node >= 0) (void)bind_to_node(context_.buffer->bytes(), parameters_.buffer_node);
    return phase;
  }

  [[nodiscard]] LocalSteps end(bool whole) override {
    if (!state_.capabilities.data) return {};
    LocalSteps steps;
    if (!context_.dataset.empty() && writes()) {
      if (whole) return {{"enter facts", [this] { return enter_dataset(); }}};
      steps.push_back(step_to_remove_facts(context_));
    }
    if (context_.keep || !parameters_.makes_dataset()) return steps;
    steps.push_back({"remove own files", [this] { return remove_own(); }});
    steps.push_back(step_to_remove_directory(context_, state_.dataset));
    return steps;
  }

 private:
  [[nodiscard]] std::string own_directory() const {
    return state_.dataset.directory_name(static_cast<std::uint64_t>(context_.world->rank()));
  }

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
    static_cast<TransferFiles&>(mixed_) = static_cast<const TransferFiles&>(state_);
    mixed_.written = parameters_.shape(static_cast<std::uint64_t>(context_.world->size()));
    mixed_.written.order = parameters_.order_of(PhaseKind::write);
    mixed_.written_operations = state_.readable_operations;
    mixed_.payload = state_.payload_spec(TransferPattern(mixed_.written, 0).file_bytes());
    return std::make_unique<MixedTransferPhase>(mixed_);
  }

  /// The dataset as it is now.
  [[nodiscard]] TransferDataset made() const {
    return {parameters_.shape(static_cast<std::uint64_t>(context_.world->size())),
            parameters_.directory_per_process,
            parameters_.compress_ratio,
            parameters_.dedup_ratio,
            state_.data_key,
            state_.generation,
            state_.readable_operations};
  }

  [[nodiscard]] Json order() const {
    return {{"order", static_cast<int>(parameters_.order)},
            {"stride", parameters_.stride},
            {"order_seed", parameters_.order_seed}};
  }

  /// A rank whose data takes several threads has all CPUs of the node; of one it has a core.
  [[nodiscard]] Status place_rank() {
    RankPlacement placement{.buffer_node = parameters_.buffer_node};
    const auto device = device_node();
    placement.device_node = device.value_or(-1);
    if (const MemoryFrom memory(parameters_.buffer_node); !memory.status()) return memory.status();
    const bool is_moved = parameters_.numa_path != NumaPath::unsaid && parameters_.numa_path != NumaPath::as_is;
    if (is_moved) {
      const auto chosen = choose_on_path(parameters_.numa_path, usable_cpus_of_nodes(), device,
                                         context_.world->topology().rank_on_node);
      if (!chosen) return fail(chosen.error());
      auto stay = StayOnCpus::on(parameters_.threads > 1 ? chosen->cpus : choose_cpus(chosen->cpus, chosen->index, 1));
      if (!stay) return fail(stay.error());
      stay_ = std::move(*stay);
    }
    placement.is_bound = is_moved || own_cpus().size() == 1;
    *context_.buffer = AlignedBuffer();  // that of earlier cases may lie anywhere
    state_.placement = placement;
    return {};
  }

  [[nodiscard]] std::optional<int> device_node() const {
    if (context_.folder == nullptr) return std::nullopt;
    const auto space = target_space(context_.folder->path());
    return space ? node_of_device(space->device) : std::nullopt;
  }

  [[nodiscard]] Status find_dataset() {
    auto facts = facts_of_dataset(context_);
    if (facts) facts = facts_of_dataset(context_, wanted_layout(*facts));
    if (!facts) return fail(facts.error());
    const TransferDataset found = TransferDataset::from(*facts);
    state_.data_key = found.key;
    state_.generation = found.generation;
    state_.written_bytes = found.written.transfer_bytes;
    const std::uint64_t there = found.operations * found.written.transfer_bytes;
    state_.readable_operations = there / parameters_.transfer_bytes;
    // A wall left the last operations of every rank out, and which those are follows from the order.
    const bool is_other = found.written.transfer_bytes != parameters_.transfer_bytes;
    const bool is_wrong = (*facts)["order"] != order() || (is_other && parameters_.order != Order::sequential);
    if (there < parameters_.bytes_a_rank() && is_wrong)
      return fail(environment_error(
          "order", "must be that of the case that made dataset '" + context_.dataset + "', which was cut short"));
    return {};
  }

  /// What is only read may be read in transfers of another size: the blocks of the file begin at the same bytes.
  [[nodiscard]] Json wanted_layout(const Json& facts) const {
    Json layout = made().layout();
    const Json written = facts.value("layout", Json::object()).value("transfer_bytes", Json());
    const auto is_whole = [](std::uint64_t bytes) { return bytes % TagCoder::block_bytes == 0; };
    const bool only_reads = !writes() && std::ranges::count(parameters_.phases, PhaseKind::mixed) == 0;
    if (only_reads && is_whole(parameters_.transfer_bytes) && written.is_number_unsigned() && is_whole(written))
      layout["transfer_bytes"] = written;
    return layout;
  }

  [[nodiscard]] Status enter_dataset() const {
    return context_.datasets->enter(context_.dataset, made().facts(order()));
  }

  /// Each rank its own file, or one rank of each file system the shared one. A file that is not there is no error.
  [[nodiscard]] Status remove_files() const {
    if (parameters_.file_mode == FileMode::per_process)
      return context_.backend->remove_file(
          state_.dataset.file_name(static_cast<std::uint64_t>(context_.world->rank())));
    return context_.writes_manifest ? context_.backend->remove_file(state_.dataset.file_name(0)) : Status{};
  }

  [[nodiscard]] Status remove_own() const {
    if (auto status = remove_files(); !status || !parameters_.directory_per_process) return status;
    return context_.backend->remove_directory(own_directory());
  }

  [[nodiscard]] Status make_dataset_directory() const {
    if (!context_.writes_manifest) return {};
    if (state_.capabilities.path)  // else nothing of it is anywhere that could be cleaned
      if (auto status = context_.folder->list_dataset(state_.dataset); !status) return status;
    return context_.backend->make_directory(state_.dataset.directory);
  }

  TransferParameters parameters_;
  StorageContext context_;
  TransferState state_;
  MixedTransferParameters mixed_parameters_;
  MixedTransferState mixed_;
  std::optional<StayOnCpus> stay_;  // the rank may run elsewhere after the repetition
};

Needs needs_of(const TransferParameters& parameters, const PlannedLayout& layout) {
  const auto ranks = static_cast<std::uint64_t>(layout.ranks);
  const bool per_process = parameters.file_mode == FileMode::per_process;
  const std::uint64_t files = per_process ? ranks * (parameters.directory_per_process ? 2 : 1) : 1;
  return {Count(parameters.bytes_a_rank()) * ranks, files, 1};
}

const Registered<WorkloadEntry> registered_transfer{on_storage<TransferParameters>({
    .name = "transfer",
    .doc = "Writes and reads large files, in IOR's model of segments, blocks and transfers.",
    .check = check_transfer,
    .needs = needs_of,
    .make = workload_of<Transfer>,
    .uses_dataset = [](const TransferParameters& p) { return !p.makes_dataset(); },
    .needs_one_folder = [](const TransferParameters& p) { return p.read_back != ReadBack::own; },
})};

}  // namespace
}  // namespace ullage
