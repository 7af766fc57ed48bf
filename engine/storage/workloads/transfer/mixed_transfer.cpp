// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-transfer`: small reads and writes anywhere in a dataset that workload `transfer` has made. Writes
// write what is there already: a later case can go on verifying the dataset.
#include "storage/workloads/transfer/mixed_transfer.hpp"

#include <cmath>

namespace ullage {
namespace {

// Functions, since the tables are asked for while other files' statics are still being made.

Table<MixedTransferParameters> pattern() {
  using P = MixedTransferParameters;
  return {
      bytes("transfer_bytes", &P::transfer_bytes, {8, 1e15},
            "Move this many bytes in one call: the size in which the dataset was written, or a smaller multiple of "
            "512."),
      count("operations", &P::operations, {1, 1e12}, "Perform this many operations on each rank."),
      number("read_share", &P::read_share, {0, 1},
             "Make this share of the operations reads, in steps of 0.001, exact in each 1000. The other operations "
             "write the data that is already there, so that the dataset does not change."),
      choice("pick", &P::pick, {{Pick::random, "random"}, {Pick::permutation, "permutation"}, {Pick::zipf, "zipf"}},
             "Choose the next position: any at random, each once before any repeats, or some much more often than "
             "others (Zipf)."),
      number("zipf_theta", &P::zipf_theta, {0, 10},
             "With pick zipf, visit the k-th most frequent position in proportion to k to the power of minus this "
             "number."),
      count("seed", &P::seed, {0, 9e15}, "Set the seed of the positions and of the order of reads and writes."),
      choice("read_back", &P::read_back, "Choose whose data a rank works on, by where the ranks really run."),
      count("read_shift", &P::read_shift, {1, 1e6}, "Take the data of the rank or node this many places further."),
  };
}

Table<MixedTransferParameters> mixed_conditions() {
  using P = MixedTransferParameters;
  return {
      flag("sync", &P::sync, "Call fsync before close, where anything is written."),
      seconds("stonewall_s", &P::stonewall_s, {0, 1e7},
              "Begin no operation after this many seconds; 0 means no limit."),
      flag("wear_out", &P::wear_out,
           "After the stonewall, let every rank continue to the largest count that any rank has reached."),
      seconds("wear_out_limit_s", &P::wear_out_limit_s, {0, 1e7},
              "Limit wear_out to this many seconds after the stonewall; 0 means no limit."),
      choice("cache", &P::cache,
             "Choose what to do before the phase: nothing, fsync and POSIX_FADV_DONTNEED of the dataset, or "
             "/proc/sys/vm/drop_caches (needs root)."),
      choice("verify", &P::verify, {{Verify::none, "none"}, {Verify::kept, "kept"}},
             "Choose what to verify of the data read, outside the timer: nothing, or what the buffers still hold."),
  };
}

class MixedTransfer final : public Workload {
 public:
  MixedTransfer(const MixedTransferParameters& parameters, const StorageContext& context)
      : parameters_(parameters), context_(context) {
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

const Registered<WorkloadEntry> registered_mixed_transfer{on_storage<MixedTransferParameters>({
    .name = "mixed-transfer",
    .doc = "Reads and writes in weighted shares at random, permuted or Zipf positions of a dataset that "
           "workload transfer has made.",
    .check = on_any_layout(check_mixed_transfer),
    .needs = nullptr,  // the room is taken already
    .make = workload_of<MixedTransfer>,
    .uses_dataset = always,
})};

}  // namespace

Table<MixedTransferParameters> MixedTransferParameters::table() {
  return joined<MixedTransferParameters>(pattern(), mixed_conditions());
}

Status check_mixed_transfer(const MixedTransferParameters& p, const Capabilities& capabilities,
                            const std::string& pointer) {
  const MixedTransferParameters initial;
  if (!capabilities.data) return fail(bad_plan(pointer, "this backend holds no data to work on"));
  if (p.transfer_bytes % 8 != 0) return fail(bad_plan(pointer + "/transfer_bytes", "must be a multiple of 8"));
  const double reads = p.read_share * static_cast<double>(MixedTransferPattern::period);
  if (std::abs(reads - std::round(reads)) > 1e-6)
    return fail(bad_plan(pointer + "/read_share", "must be a multiple of 0.001"));
  if (p.zipf_theta != initial.zipf_theta && p.pick != Pick::zipf)
    return fail(bad_plan(pointer + "/zipf_theta", "needs pick zipf"));
  if (p.read_shift != initial.read_shift && p.read_back == ReadBack::own)
    return fail(bad_plan(pointer + "/read_shift", "needs read_back other-rank or other-node"));
  if (auto status = check_wall(p, pointer); !status) return status;
  if (p.cache == CacheControl::drop && geteuid() != 0)
    return fail(bad_plan(pointer + "/cache", "drop needs root; advise does not"));
  return {};
}

}  // namespace ullage
