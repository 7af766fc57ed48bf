// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-transfer`: small reads and writes anywhere in a dataset that workload `transfer` has made. Writes
// write what is there already: a later case can go on verifying the dataset.
#include <utility>

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_facts.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/dataset.hpp"
#include "storage/workloads/transfer/mixed_parameters.hpp"
#include "storage/workloads/transfer/mixed_phase.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class MixedTransfer final : public Workload {
 public:
  MixedTransfer(const Values& values, const StorageContext& context)
      : parameters_(MixedTransferParameters::from(values)), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
  }

  void find_peers() override { state_.find_source(parameters_.read_back, parameters_.read_shift); }

  /// The dataset is not this case's to remove, and is what it was, however far this went: there is no end to it.
  [[nodiscard]] LocalSteps begin() override {
    return {{"find dataset", [this] { return find_dataset(); }}};
  }

  [[nodiscard]] std::size_t phases() const override { return 1; }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t /*index*/) override {
    return std::make_unique<MixedTransferPhase>(state_);
  }

 private:
  [[nodiscard]] Status find_dataset() {
    const auto facts = facts_of_dataset(context_);
    if (!facts) return fail(facts.error());
    if ((*facts)["workload"] != "transfer")
      return fail(wrong("was made by workload " + json_text((*facts)["workload"]) + ", must be one of transfer"));
    adopt(TransferDataset::from(*facts));
    return check_dataset();
  }

  void adopt(const TransferDataset& made) {
    state_.written = made.written;
    state_.written_operations = made.operations;
    state_.dataset = made.entry(context_.dataset);
    state_.payload = made.payload();
  }

  [[nodiscard]] Status check_dataset() const {
    const std::uint64_t bytes = parameters_.transfer_bytes;
    const std::uint64_t whole = state_.written.transfer_bytes;
    const std::uint64_t alignment = state_.capabilities.alignment_bytes;
    if (state_.written.ranks != static_cast<std::uint64_t>(context_.world->size()))
      return fail(wrong("was made by " + std::to_string(state_.written.ranks) + " ranks, but this case has " +
                        std::to_string(context_.world->size())));
    if (state_.written_operations == 0) return fail(wrong("is empty: a rank has written none of it"));
    if (bytes != whole && (bytes > whole || bytes % TagCoder::block_bytes != 0))
      return fail(environment_error("transfer_bytes", "is " + std::to_string(bytes) + ", must be the dataset's own " +
                                                          std::to_string(whole) + " or a smaller multiple of 512"));
    if (bytes % alignment != 0 || whole % alignment != 0)
      return fail(environment_error("transfer_bytes",
                                    "is " + std::to_string(bytes) + ", the dataset's " + std::to_string(whole) +
                                        ", but direct I/O here needs multiples of " + std::to_string(alignment)));
    if (state_.capabilities.collective && !state_.dataset.per_process)
      return fail(
          wrong("is a shared file, which this backend accesses collectively; random positions of each rank need "
                "independent operations"));
    return {};
  }

  [[nodiscard]] Error wrong(const std::string& text) const {
    return environment_error("dataset '" + context_.dataset + "'", text);
  }

  MixedTransferParameters parameters_;
  StorageContext context_;
  MixedTransferState state_;
};

const Registered<WorkloadEntry> registered_mixed_transfer{{
    .description = {.name = "mixed-transfer",
                    .doc =
                        "Reads and writes in weighted shares at random, permuted or Zipf positions of a dataset that "
                        "workload transfer has made.",
                    .parameters = specs_of(MixedTransferParameters::table())},
    .work = StorageWork{
        .check =
            [](const Values& values, const Capabilities& capabilities, const PlannedLayout& /*layout*/,
               const std::string& pointer) {
              return check_mixed_transfer(MixedTransferParameters::from(values), capabilities, pointer);
            },
        .needs = nullptr,  // the room is taken already
        .make = [](const Values& values,
                   const StorageContext& context) { return std::make_unique<MixedTransfer>(values, context); },
        .uses_dataset = [](const Values& /*values*/) { return true; }},
}};

}  // namespace
}  // namespace ullage
