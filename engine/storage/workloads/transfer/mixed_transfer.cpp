// SPDX-License-Identifier: Apache-2.0
// Workload `mixed-transfer`: small reads and writes anywhere in a dataset that workload `transfer` has made. Writes
// write what is there already: a later case can go on verifying the dataset.
#include "storage/workloads/transfer/mixed_transfer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/count.hpp"
#include "base/json.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/entry.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t most_slots = 4096;
constexpr std::uint64_t most_slot_bytes = std::uint64_t{16} << 20;

}  // namespace

MixedTransferShape MixedTransferState::shape() const {
  return {written,          written_operations,     parameters->transfer_bytes,
          parameters->pick, parameters->zipf_theta, parameters->read_share,
          parameters->seed};
}

MixedTransferPhase::MixedTransferPhase(const MixedTransferState& state)
    : state_(state),
      pattern_(state.shape(), static_cast<std::uint64_t>(state.context->world->rank()),
               static_cast<std::uint64_t>(state.source_rank)),
      payload_(state.payload),
      ring_(*state.context->buffer, state.parameters->transfer_bytes,
            std::max<std::size_t>(64, state.capabilities.alignment_bytes)) {
  ring_.allocate(std::min(ring_.count_in(most_slot_bytes, most_slots), state.parameters->operations));
  extents_.reserve(ring_.count());
  extent_kinds_.reserve(ring_.count());
}

PhaseInfo MixedTransferPhase::info() const {
  PhaseInfo info;
  info.name = "mixed";
  info.access = parameters().writes() ? Access::write : Access::read;
  info.stonewall_ns = std::llround(parameters().stonewall_s * 1e9);
  info.wear_out = parameters().wear_out;
  info.wear_out_limit_ns = std::llround(parameters().wear_out_limit_s * 1e9);
  info.cache_control = state_.capabilities.direct ? "direct" : word(parameters().cache);
  if (parameters().reads()) info.data_of = state_.data_of;
  if (mixes()) info.parts = {"read", "write"};
  if (state_.looks()) info.files.push_back(state_.file_name());
  tell_whose(parameters().read_back, state_.data_of, info,
             {"every rank works on its own data, since there is no other",
              "there is one node: ranks work on what another rank of the same node wrote"});
  return info;
}

Status MixedTransferPhase::allocate() {
  Status status = state_.context->backend->make_ready(state_.context->buffer->bytes(), {});
  for (const Kind kind : kinds_moved()) keep_first(status, state_.context->backend->ready_open(request_for(kind)));
  return status;
}

Status MixedTransferPhase::before() {
  Status status = refuse_holes();
  keep_first(status, state_.control_cache(parameters().cache));  // collective: also by a rank whose file was refused
  return status;
}

/// Where a stonewall cut the writing short there may be room behind what was written: between the ranks of a shared
/// file, or preallocated.
Status MixedTransferPhase::refuse_holes() const {
  if (!state_.dataset.per_process && !state_.context->world->root()) return {};
  const std::uint64_t all = pattern_.file_bytes();
  const bool whole = state_.written_operations == TransferPattern(state_.written, 0).operations();
  if (!whole && !state_.dataset.per_process) return {};
  if (whole) return check_written(*state_.context->backend, state_.file_name(), all);
  return check_written(*state_.context->backend, state_.file_name(), pattern_.transfers_end_bytes(), all);
}

/// A position may be read twice, so every buffer is poisoned again: what an earlier read left must not pass for a later
/// one's data.
std::uint64_t MixedTransferPhase::prepare(std::uint64_t first, std::uint64_t most) {
  extents_.clear();
  extent_kinds_.clear();
  const std::uint64_t end = first + std::min(most, ring_.count());
  for (std::uint64_t i = first; i < end; ++i) {
    const MixedTransferPattern::Step step = pattern_.at(i);
    const auto buffer = ring_[i];
    if (!step.reads)
      payload_.fill(buffer, static_cast<std::uint64_t>(state_.source_rank), step.offset_bytes);
    else if (verifies())
      Payload::poison(buffer);
    extents_.push_back({step.offset_bytes, buffer.size(), buffer.data()});
    extent_kinds_.push_back(step.reads ? reading : writing);
  }
  prepared_ = std::max(prepared_, end);
  return extents_.size();
}

std::vector<MixedTransferPhase::Kind> MixedTransferPhase::kinds_moved() const {
  std::vector<Kind> moved;
  if (parameters().reads()) moved.push_back(reading);
  if (parameters().writes()) moved.push_back(writing);
  return moved;
}

OpenRequest MixedTransferPhase::request_for(Kind kind) const {
  OpenRequest request;
  request.name = state_.file_name();
  request.shared = !state_.dataset.per_process;
  request.expected_bytes = pattern_.file_bytes();
  request.mode = kind == reading ? OpenMode::read : OpenMode::overwrite;
  return request;
}

Status MixedTransferPhase::open() {
  Status first;
  for (const Kind kind : kinds_moved()) {
    auto file = state_.context->backend->open(request_for(kind));
    keep_first(first, file ? Status{} : fail(file.error()));
    if (file) files_.at(kind) = std::move(*file);
  }
  return first;
}

Status MixedTransferPhase::move(Kind kind, std::span<const Extent> extents, Meter& meter) {
  const std::uint64_t before = meter.operations();
  const Status status = files_.at(kind)->transfer(kind == reading ? Direction::read : Direction::write, extents, meter);
  done_.at(kind) += meter.operations() - before;
  return status;
}

Status MixedTransferPhase::execute(Meter& meter) {
  if (!mixes()) return move(parameters().reads() ? reading : writing, extents_, meter);
  for (std::size_t i = 0; i < extents_.size(); ++i) {
    const std::int64_t begun_ns = meter.last_ns();
    if (auto status = move(extent_kinds_[i], std::span(extents_).subspan(i, 1), meter); !status) return status;
    meter.add_part(extent_kinds_[i], meter.last_ns() - begun_ns);
    if (!meter.goes_on()) break;
  }
  return {};
}

Status MixedTransferPhase::sync() { return files_[writing] ? files_[writing]->sync() : Status{}; }

Status MixedTransferPhase::close() {
  Status first;
  for (auto& file : files_) {
    if (!file) continue;
    keep_first(first, close_and_keep_hints(*file, hints_granted_));
    file.reset();
  }
  return first;
}

/// Looks at the operations whose buffers were not made ready for later ones, which a stonewall may have kept back.
Verification MixedTransferPhase::after(std::uint64_t executed, Meter& progress) {
  Verification verification;
  progress.start(now_ns());
  for (std::uint64_t i = prepared_ - std::min(prepared_, ring_.count()); verifies() && i < executed; ++i) {
    const MixedTransferPattern::Step step = pattern_.at(i);
    if (!step.reads) continue;
    const auto found = ring_[i];
    add_check(verification, found.size(),
              payload_.check(found, static_cast<std::uint64_t>(state_.source_rank), step.offset_bytes),
              [this](const Mismatch& wrong) { return wrong_data(*state_.context, state_.file_name(), wrong); });
    (void)progress.completed(found.size());
  }
  return verification;
}

Counters MixedTransferPhase::counters() const {
  return {{"reads", done_[reading]}, {"writes", done_[writing]}, {"positions", pattern_.positions()}};
}

namespace {

// Functions, since the tables are asked for while other files' statics are still being made.
Words<MixedVerify> mixed_verify_words() { return {{MixedVerify::none, "none"}, {MixedVerify::kept, "kept"}}; }

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
      choice("read_back", &P::read_back, read_back_words(),
             "Choose whose data a rank works on, by where the ranks really run."),
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
             {{CacheControl::none, "none"}, {CacheControl::advise, "advise"}, {CacheControl::drop, "drop"}},
             "Choose what to do before the phase: nothing, fsync and POSIX_FADV_DONTNEED of the dataset, or "
             "/proc/sys/vm/drop_caches (needs root)."),
      choice("verify", &P::verify, mixed_verify_words(),
             "Choose what to verify of the data read, outside the timer: nothing, or what the buffers still hold."),
  };
}

}  // namespace

const Table<MixedTransferParameters>& MixedTransferParameters::table() {
  static const Table<MixedTransferParameters> fields = joined<MixedTransferParameters>(pattern(), mixed_conditions());
  return fields;
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
  if (p.wear_out && p.stonewall_s == 0) return fail(bad_plan(pointer + "/wear_out", "needs stonewall_s"));
  if (p.wear_out_limit_s > 0 && !p.wear_out) return fail(bad_plan(pointer + "/wear_out_limit_s", "needs wear_out"));
  if (p.cache == CacheControl::drop && geteuid() != 0)
    return fail(bad_plan(pointer + "/cache", "drop needs root; advise does not"));
  return {};
}

namespace {

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

}  // namespace ullage
