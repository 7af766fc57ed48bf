// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-transfer`: small reads and writes anywhere in a dataset that workload `transfer` has made. Writes
// write what is there already: a later case can go on verifying the dataset.
#include <utility>

#include "base/json.hpp"
#include "storage/backend.hpp"
#include "storage/dataset_book.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/mixed_parameters.hpp"
#include "storage/workloads/transfer/mixed_phase.hpp"
#include "work/workload.hpp"

namespace ullage {
namespace {

class MixedTransfer final : public Workload {
 public:
  MixedTransfer(const Values& values, const WorkloadContext& context)
      : parameters_(MixedTransferParameters::from(values)), context_(context) {
    state_.parameters = &parameters_;
    state_.context = &context_;
    state_.capabilities = context.backend->capabilities();
  }

  [[nodiscard]] Status begin() override {
    find_source();
    const Json* facts = context_.datasets->find(context_.dataset);
    if (facts == nullptr) return fail(no_dataset(context_.dataset));
    if ((*facts)["workload"] != "transfer")
      return fail(wrong("was made by workload " + json_text((*facts)["workload"]) + ", must be one of transfer"));
    adopt(*facts);
    return check_dataset();
  }

  [[nodiscard]] std::size_t phases() const override { return 1; }

  [[nodiscard]] std::unique_ptr<PhaseWork> phase(std::size_t /*index*/) override {
    return std::make_unique<MixedTransferPhase>(state_);
  }

  /// The dataset is not this case's to remove, and is what it was, however far this went.
  [[nodiscard]] Status end(bool /*whole*/) override { return {}; }

 private:
  void adopt(const Json& facts) {
    const Json& layout = facts["layout"];
    const bool per_process = layout["per_process"];
    TransferShape& written = state_.written;
    written.transfer_bytes = layout["transfer_bytes"];
    written.block_bytes = layout["block_bytes"];
    written.segments = layout["segments"];
    written.ranks = layout["ranks"];
    written.file_mode = per_process ? FileMode::per_process : FileMode::shared;
    state_.written_operations = facts["operations"];
    state_.dataset = {context_.dataset, "c-" + context_.dataset,         per_process ? written.ranks : 1,
                      per_process,      layout["directory_per_process"], std::nullopt};
    PayloadSpec& payload = state_.payload;
    payload.run_key = mix64(facts["key"].get<std::uint64_t>() ^ facts["generation"].get<std::uint64_t>());
    payload.transfer_bytes = written.transfer_bytes;
    payload.compress_ratio = layout["compress_ratio"];
    payload.dedup_ratio = layout["dedup_ratio"];
    payload.file_bytes = TransferPattern(written, 0).file_bytes();
    payload.shared_file = !per_process;
  }

  [[nodiscard]] Status check_dataset() const {
    const std::uint64_t bytes = parameters_.transfer_bytes;
    const std::uint64_t whole = state_.written.transfer_bytes;
    const std::uint64_t alignment = state_.capabilities.alignment_bytes;
    if (state_.written.ranks != static_cast<std::uint64_t>(context_.world->size()))
      return fail(wrong("was made by " + std::to_string(state_.written.ranks) + " ranks, here are " +
                        std::to_string(context_.world->size())));
    if (state_.written_operations == 0) return fail(wrong("holds nothing: a rank has written none of it"));
    if (bytes != whole && (bytes > whole || bytes % TagCoder::block_bytes != 0))
      return fail(environment_error("transfer_bytes", "is " + std::to_string(bytes) + ", must be the dataset's own " +
                                                          std::to_string(whole) + " or a smaller multiple of 512"));
    if (bytes % alignment != 0 || whole % alignment != 0)
      return fail(environment_error("transfer_bytes",
                                    "is " + std::to_string(bytes) + ", the dataset's " + std::to_string(whole) +
                                        ", but direct I/O here needs multiples of " + std::to_string(alignment)));
    if (state_.capabilities.collective && !state_.dataset.per_process)
      return fail(
          wrong("is a shared file, which this backend works on collectively: positions of one's own need "
                "independent operations"));
    return {};
  }

  [[nodiscard]] Error wrong(const std::string& text) const {
    return environment_error("dataset '" + context_.dataset + "'", text);
  }

  /// Collective.
  void find_source() {
    DataSource source = find_data_source(*context_.world, parameters_.read_back, parameters_.read_shift);
    state_.source_rank = source.rank;
    state_.data_of = std::move(source.data_of);
  }

  MixedTransferParameters parameters_;
  WorkloadContext context_;
  MixedTransferState state_;
};

const Registered<WorkloadEntry> registered_mixed_transfer{{
    {"mixed-transfer",
     "reads and writes in weighted shares at random, permuted or Zipf positions of a dataset that transfer has made",
     specs_of(MixedTransferParameters::table()),
     {},
     {}},
    [](const Values& values, const Capabilities& capabilities, const PlannedLayout& /*layout*/,
       const std::string& pointer) {
      return check_mixed_transfer(MixedTransferParameters::from(values), capabilities, pointer);
    },
    [](const Values& /*values*/, const PlannedLayout& /*layout*/) { return Needs{}; },  // the room is taken already
    [](const Values& values, const WorkloadContext& context) {
      return std::make_unique<MixedTransfer>(values, context);
    },
    [](const Values& /*values*/) { return true; },
}};

}  // namespace
}  // namespace ullage
