// SPDX-License-Identifier: Apache-2.0
// One writing or reading phase of workload `transfer` on one rank: pattern, payload and buffers bound to an open file.
#pragma once

#include "base/count.hpp"
#include "memory/numa.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "storage/workloads/transfer/dataset.hpp"
#include "storage/workloads/transfer/parameters.hpp"
#include "storage/workloads/transfer/pattern.hpp"

namespace ullage {

/// Says where this rank was put for a repetition, and the node from which its buffers were to come.
struct RankPlacement {
  int device_node = -1;  // -1: the kernel does not say
  bool is_bound = false;
  int buffer_node = -1;  // -1: that of the rank
};

/// Holds what every phase of a repetition shares on this rank; changed by the writing phases.
struct TransferState : TransferFiles {
  const TransferParameters* parameters = nullptr;
  std::uint64_t data_key = 0;              // of this dataset
  std::uint64_t generation = 0;            // of the data: +1 with each writing phase
  std::uint64_t written_bytes = 0;         // of the transfers that it was written in; 0: those of the case
  std::uint64_t readable_operations = 0;   // of every rank: the least any of them has written
  std::optional<RankPlacement> placement;  // where somebody asked

  [[nodiscard]] PayloadSpec payload_spec(std::uint64_t file_bytes) const {
    return {.run_key = mix64(data_key ^ generation),
            .transfer_bytes = written_bytes > 0 ? written_bytes : parameters->transfer_bytes,
            .compress_ratio = parameters->compress_ratio,
            .dedup_ratio = parameters->dedup_ratio,
            .file_bytes = file_bytes,
            .shared_file = !dataset.per_process};
  }
};

inline constexpr std::uint64_t most_extents = 4096;
inline constexpr std::uint64_t most_reads = 65536;  // of a batch: between batches nothing is under way

// A batch of which one read is under way anyhow has so many: what says where they go stays in the nearest cache.
inline constexpr std::uint64_t most_single_reads = 1024;

// A core keeps the buffers of a queue of reads in its cache, where they have this volume.
inline constexpr std::uint64_t hot_reads_bytes = std::uint64_t{1} << 20;
/// Of data that is made before any of it is written.
inline constexpr std::uint64_t most_writes_bytes = std::uint64_t{16} << 20;
/// Of a rank's reads, which `verify` kept looks at.
inline constexpr std::uint64_t last_bytes = std::uint64_t{16} << 20;

class TransferPhase final : public PhaseWork {
 public:
  TransferPhase(TransferState& state, PhaseKind kind)
      : state_(state),
        kind_(kind),
        pattern_(shape(), writer()),
        payload_(state.payload_spec(pattern_.file_bytes())),
        ring_(*state.context->buffer, state.parameters->transfer_bytes,
              std::max<std::size_t>(64, state.capabilities.alignment_bytes)) {
    ring_.allocate(std::min(wanted_ring(), std::max<std::uint64_t>(pattern_.operations(), 1)));
    extents_.reserve(std::min(writes() ? most_extents : longest_reads(), pattern_.operations()));
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info{.name = word_of(kind_),
                   .access = writes() ? Access::write : Access::read,
                   .collective = in_step(),
                   .bytes_at_once = parameters().transfer_bytes};
    if (writes() && parameters().sync == SyncWhen::every) info.bytes_at_once *= parameters().sync_every;
    tell_wall(parameters(), info);
    info.data_of = writes() ? "" : state_.data_of;
    // With syncs in between, data goes on its way to the device while more is made.
    info.clock_stops = !writes() || parameters().sync != SyncWhen::every;
    if (kind_ == PhaseKind::read) info.cache_control = word_of(parameters().cache);
    if (state_.capabilities.direct) info.cache_control = "direct";
    if (state_.looks()) info.files.push_back(file_name());
    if (!writes()) {
      const std::string other = parameters().read_back == ReadBack::other_node ? "node" : "rank";
      tell_whose(parameters().read_back, state_.data_of, info,
                 {.own = "every rank reads back its own data, since there is no other " + other + " to read from"});
    }
    return info;
  }

  [[nodiscard]] Status allocate() override {
    if (writes())
      fill_slots();
    else
      poison_slots();
    const Status status = state_.context->backend->make_ready(
        state_.context->buffer->bytes(), {.queue_depth = parameters().queue_depth,
                                          .threads = parameters().threads,
                                          .window = writes() ? 0 : static_cast<std::size_t>(ring_.count())});
    return status ? state_.context->backend->ready_open(open_request()) : status;
  }

  [[nodiscard]] Status before() override {
    if (writes() || !state_.capabilities.data) return {};
    Status status = refuse_holes();
    if (kind_ == PhaseKind::read) {
      keep_first(status,
                 state_.control_cache(parameters().cache));  // collective: also by a rank whose file was refused
    }
    return status;
  }

  [[nodiscard]] std::uint64_t operations() const override {
    return writes() ? pattern_.operations() : std::min(pattern_.operations(), state_.readable_operations);
  }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    extents_.clear();
    return writes() ? prepare_writes(first, std::min(most, most_extents)) : prepare_reads(first, most);
  }

  [[nodiscard]] Status open() override { return take_into(file_, state_.context->backend->open(open_request())); }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (!file_) return {};
    const Direction direction = writes() ? Direction::write : Direction::read;
    if (!writes() || parameters().sync != SyncWhen::every) return file_->transfer(direction, extents_, meter);
    Status first;
    std::span<const Extent> rest = extents_;
    while (!rest.empty()) {
      const std::uint64_t due = parameters().sync_every - since_sync_;
      const auto part = rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(due, rest.size())));
      const std::uint64_t before = meter.operations();
      keep_first(first, file_->transfer(direction, part, meter));
      since_sync_ += in_step() ? part.size() : meter.operations() - before;
      if (since_sync_ == parameters().sync_every && (first || in_step())) {
        keep_first(first, file_->sync());
        meter.synced();
        since_sync_ = 0;
      }
      if (!in_step() && (!first || !meter.goes_on())) break;
      rest = rest.subspan(part.size());
    }
    return first;
  }

  [[nodiscard]] bool wants_sync() const override { return writes() && parameters().sync == SyncWhen::close; }
  [[nodiscard]] Status sync() override { return file_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override {
    if (!file_) return {};
    const Status status = close_and_keep_hints(*file_, hints_granted_);
    file_.reset();
    return status;
  }

  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    if (writes()) {
      if (repeats()) return {};  // there is as much to read as before
      state_.readable_operations =
          static_cast<std::uint64_t>(state_.context->world->all().min(static_cast<std::int64_t>(executed)));
      return {};
    }
    switch (parameters().verify) {
      case Verify::none:
        return {};
      case Verify::kept:
        return verify_last(executed, progress);
      case Verify::full:
        break;
    }
    Verification verification;
    read_again(0, executed, progress, verification);
    return verification;
  }

  /// Returns where the rank runs and its buffers lie once the phase is over.
  [[nodiscard]] Gauges gauges() const override {
    if (!state_.placement) return {};
    const RankPlacement& wanted = *state_.placement;
    const RankSpot spot = spot_now();
    const int buffer_node = wanted.buffer_node >= 0 ? wanted.buffer_node : spot.node;
    std::uint64_t elsewhere = 0;
    for (const auto& [node, pages] : pages_on_nodes(state_.context->buffer->bytes()))
      if (node != buffer_node) elsewhere += pages;
    return {{"rank_numa_node", spot.node},
            {"rank_package", spot.package},
            {"device_numa_node", wanted.device_node},
            {"bound_ranks", wanted.is_bound ? 1.0 : 0.0},
            {"buffer_numa_node", buffer_node},
            {"buffer_pages_elsewhere", static_cast<double>(elsewhere)}};
  }

  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return with_hints_of(*state_.context->backend, hints_granted_); }

 private:
  [[nodiscard]] OpenRequest open_request() const {
    return {.name = file_name(),
            .mode = kind_ == PhaseKind::write     ? OpenMode::create
                    : kind_ == PhaseKind::rewrite ? OpenMode::overwrite
                                                  : OpenMode::read,
            .shared = !state_.dataset.per_process,
            .expected_bytes = pattern_.file_bytes()};
  }

  [[nodiscard]] bool writes() const { return kind_ == PhaseKind::write || kind_ == PhaseKind::rewrite; }
  [[nodiscard]] const TransferParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] bool repeats() const { return parameters().order_of(kind_) == Order::repeat; }
  [[nodiscard]] TransferShape shape() const {
    TransferShape shape = parameters().shape(static_cast<std::uint64_t>(state_.context->world->size()));
    shape.order = parameters().order_of(kind_);
    return shape;
  }

  [[nodiscard]] std::uint64_t writer() const {
    const int rank =
        kind_ == PhaseKind::write || kind_ == PhaseKind::rewrite ? state_.context->world->rank() : state_.source_rank;
    return static_cast<std::uint64_t>(rank);
  }

  /// Ranks stay together where their calls are collective: the operations, or the syncs between them.
  [[nodiscard]] bool in_step() const {
    if (state_.dataset.per_process) return false;
    const bool syncs_between = writes() && parameters().sync == SyncWhen::every;
    return state_.capabilities.collective || (state_.capabilities.collective_sync && syncs_between);
  }

  [[nodiscard]] std::uint64_t prepare_writes(std::uint64_t first, std::uint64_t most) {
    if (repeats()) {
      const auto buffer = ring_[0];
      extents_.assign(most, {pattern_.offset_bytes(first), buffer.size(), buffer.data()});
      return most;
    }
    const std::uint64_t end = first + std::min(most, ring_.count());
    for (std::uint64_t i = first; i < end; ++i) {
      const std::uint64_t offset = pattern_.offset_bytes(i);
      const auto buffer = ring_[i];
      if (i >= ring_.count()) payload_.fill(buffer, writer(), offset);
      extents_.push_back({offset, buffer.size(), buffer.data()});
    }
    return extents_.size();
  }

  [[nodiscard]] std::uint64_t prepare_reads(std::uint64_t first, std::uint64_t most) {
    // What is looked at after a batch has to be there still.
    const std::uint64_t end =
        first + std::min({most, longest_reads(), looks_at_each_ ? ring_.count() : longest_reads()});
    for (std::uint64_t i = first; i < end; ++i) {
      const auto buffer = ring_[i];
      if (repeats() && looks_at_each_) Payload::poison(buffer);
      extents_.push_back({pattern_.offset_bytes(i), buffer.size(), buffer.data()});
    }
    return extents_.size();
  }

  /// The data of the first round through the slots.
  void fill_slots() {
    const std::uint64_t first_round = repeats() ? 1 : std::min(ring_.count(), pattern_.operations());
    for (std::uint64_t i = 0; i < first_round; ++i) payload_.fill(ring_[i], writer(), pattern_.offset_bytes(i));
  }

  /// Once before the first read is enough: an offset is read once a phase, so what an earlier read left in a slot has
  /// another offset's tags, and cannot pass for a later one's data. With order repeat it could: see prepare_reads,
  /// which does so where each read is looked at, outside the timer.
  void poison_slots() { ring_.poison(); }
  /// A single operation in flight has a single buffer, and so has each of several threads; writes have as many as their
  /// data is made for at once. Of a queue's buffers, which are to stay in the caches that the device's data goes
  /// through, there are so many that one slow read does not hold up all that follow it; what a queue or threads write
  /// is made between batches, while nothing is under way, so batches are long.
  [[nodiscard]] std::uint64_t wanted_ring() const {
    const auto depth = static_cast<std::uint64_t>(parameters().queue_depth);
    const auto threads = static_cast<std::uint64_t>(parameters().threads);
    std::uint64_t least = threads;
    std::uint64_t bytes = 0;
    if (writes()) {
      least = std::max(depth, threads > 1 ? 2 * threads : 1);
      bytes = parameters().one_at_a_time() ? cached_bytes : most_writes_bytes;
    } else if (depth > 1) {
      least = 4 * depth;
      bytes = hot_reads_bytes;
    }
    if (parameters().buffers > 0) bytes = parameters().buffers;
    return std::max(least, bytes / ring_.distance_bytes());
  }

  [[nodiscard]] std::uint64_t longest_reads() const {
    return parameters().one_at_a_time() ? most_single_reads : most_reads;
  }

  [[nodiscard]] Status refuse_holes() const {
    if (!state_.dataset.per_process && !state_.context->world->root()) return {};
    if (state_.readable_operations < pattern_.operations()) return {};  // a stonewall left the file short on purpose
    return check_written(*state_.context->backend, file_name(), pattern_.file_bytes());
  }

  /// What the buffers still hold is that of the timed reads themselves; of those before it, what is read now. Threads
  /// leave no telling which read a buffer holds. That there is something to read again is the same on all ranks.
  [[nodiscard]] Verification verify_last(std::uint64_t executed, Meter& progress) {
    Verification verification;
    const std::uint64_t held = parameters().threads > 1 ? 0 : ring_.count();
    const std::uint64_t wanted = std::max<std::uint64_t>(last_bytes / parameters().transfer_bytes, 1);
    const std::uint64_t first = executed - std::min(executed, std::max(held, wanted));
    const std::uint64_t first_held = executed - std::min(executed, held);
    for (std::uint64_t i = first_held; i < executed; ++i) check_transfer_data(i, ring_[i], verification);
    if (held < std::min(wanted, operations())) read_again(first, first_held, progress, verification);
    return verification;
  }

  /// Collective where the file is shared. Operations [first, end), each looked at before its buffer is used again.
  void read_again(std::uint64_t first, std::uint64_t end, Meter& progress, Verification& verification) {
    progress.start(now_ns());
    looks_at_each_ = true;
    poison_slots();
    Status status = open();
    for (std::uint64_t i = first; i < end && (status || in_step());) {
      const std::uint64_t n = prepare(i, end - i);
      keep_first(status, execute(progress));
      for (std::uint64_t k = 0; status && k < n; ++k)
        check_transfer_data(i + k, {extents_[k].data, extents_[k].length_bytes}, verification);
      i += n;
    }
    keep_first(status, close());
    if (!status && !verification.first) verification.first = status.error();
  }

  void check_transfer_data(std::uint64_t operation, std::span<const std::byte> data, Verification& verification) const {
    const std::uint64_t offset = pattern_.offset_bytes(operation);
    add_check(verification, data.size(), payload_.check(data, writer(), offset),
              [this](const Mismatch& wrong) { return wrong_data(*state_.context, file_name(), wrong); });
  }

  [[nodiscard]] std::string file_name() const { return state_.file_of(static_cast<int>(writer())); }

  TransferState& state_;
  PhaseKind kind_;
  TransferPattern pattern_;
  Payload payload_;
  BufferRing ring_;
  bool looks_at_each_ = false;  // of the transfers of a batch, before the next one
  std::vector<Extent> extents_;
  std::unique_ptr<File> file_;
  std::uint64_t since_sync_ = 0;
  Map hints_granted_;
};

}  // namespace ullage
