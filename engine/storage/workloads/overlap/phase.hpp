// SPDX-License-Identifier: Apache-2.0
// Writing or reading of workload `overlap` on one rank: I/O alone, computation alone, both at once, one after the
// other.
#pragma once

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/helper_threads.hpp"
#include "base/resources.hpp"
#include "mpi/agreement.hpp"
#include "noise/fixed_chain.hpp"
#include "storage/workloads/overlap/overlap.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

// Transfers that helper threads make by blocking calls while their rank computes.

/// One helper for each file, which is open once for each of them: transfer i of a batch goes through file i.
class HelperTransfers final : public NonblockingTransfers {
 public:
  /// The files outlive it, are open when a batch is started, and are the helpers' until wait() has returned.
  explicit HelperTransfers(std::span<const std::unique_ptr<File>> files)
      : files_(files), helpers_(files.size(), [this](std::uint64_t transfer, HelperClock& clock) {
          const auto i = static_cast<std::size_t>(transfer);
          return files_[i]->transfer(direction_, extents_.subspan(i, 1), clock.from_now());
        }) {}

  /// Once, before the first batch. All helpers, or none and the error.
  [[nodiscard]] Status start_threads() { return helpers_.start(files_.size()); }

  /// At most as many as there are files.
  void start(Direction direction, std::span<const Extent> extents) override {
    direction_ = direction;
    extents_ = extents;
    helpers_.submit(0, extents.size());
  }

  void test() override {}

  [[nodiscard]] Status wait() override {
    Status first;
    for (std::size_t i = 0; i < extents_.size(); ++i)
      if (const auto outcome = helpers_.wait(i, [] {})) keep_first(first, *outcome);
    extents_ = {};
    return first;
  }

 private:
  std::span<const std::unique_ptr<File>> files_;
  // Written before the helpers are told of a batch, and read by them until its end.
  Direction direction_ = Direction::write;
  std::span<const Extent> extents_;
  HelperThreads<Status, HelperClock> helpers_;  // last: they use the others
};

/// Holds what both phases of a repetition share on this rank.
struct OverlapState {
  const OverlapParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;

  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context->world->rank()); }
  [[nodiscard]] std::string file_name() const { return dataset.file_name(rank()); }
};

inline PayloadSpec payload_of(const OverlapState& state) {
  return {.run_key = state.context->run_key, .transfer_bytes = state.parameters->transfer_bytes};
}

inline double seconds_of(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// An operation is a stretch. All ranks begin each together, behind a barrier that is in no stretch's time; data is
/// made and checked between them. Gauges, over all rounds: io_s, compute_s, both_s, blocking_s (each of all batches),
/// and of `both` start_s (calls that begin transfers), beside_s (the computation), wait_s (until all have ended); bytes
/// (of one kind of stretch), batches (of one kind), blocks (of the computation of a batch).
class OverlapPhase final : public PhaseWork {
 public:
  OverlapPhase(const OverlapState& state, Direction direction)
      : state_(state),
        direction_(direction),
        shape_(state.parameters->shape()),
        payload_(payload_of(state)),
        slot_bytes_(round_up<std::size_t>(shape_.transfer_bytes,
                                          std::max(buffer_alignment, state.capabilities.alignment_bytes))),
        extents_(shape_.transfers()),
        warm_up_ns_(shape_.batches),
        helper_files_(parameters().method == OverlapMethod::threads ? shape_.depth : 0) {
    const std::size_t needed = extents_.size() * slot_bytes_;
    if (state.context->buffer->size() < needed) *state.context->buffer = AlignedBuffer(needed);
    std::byte* next = state.context->buffer->bytes().data();
    for (Extent& extent : extents_) {
      extent.length_bytes = shape_.transfer_bytes;
      extent.data = std::exchange(next, next + slot_bytes_);
    }
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info;
    info.name = word_of(direction_);
    info.access = writes() ? Access::write : Access::read;
    info.collective = true;  // ranks begin each stretch together
    info.bytes_at_once = shape_.area_bytes();
    if (!writes()) {
      info.data_of = "own";
      info.cache_control = parameters().cache == DropCache::drop ? "drop" : "none";
    }
    if (state_.capabilities.data) info.files.push_back(state_.file_name());
    return info;
  }

  [[nodiscard]] Status before() override {
    const bool nonblocking = parameters().method == OverlapMethod::nonblocking;
    Backend& backend = *state_.context->backend;
    const Concurrency wanted{.queue_depth = nonblocking ? static_cast<int>(shape_.depth) : 1};
    if (auto status = backend.make_ready(state_.context->buffer->bytes(), wanted); !status) return status;
    if (!nonblocking) {
      helpers_ = std::make_unique<HelperTransfers>(helper_files_);
      if (auto started = helpers_->start_threads(); !started) return started;
    }
    if (auto status = backend.ready_open(request_for(writes() ? OpenMode::create : OpenMode::read)); !status)
      return status;
    if (writes() || parameters().cache == DropCache::none || state_.capabilities.direct) return {};
    return backend.drop_cached(state_.file_name());
  }

  [[nodiscard]] std::uint64_t operations() const override { return shape_.stretches(); }
  [[nodiscard]] Status open() override {
    (void)keep(catch_resource_errors([this] { return open_for_overlap(); }));
    return status_;
  }

  /// When a stretch has failed anywhere, no rank begins another one.
  [[nodiscard]] Status execute(Meter& meter) override {
    const mpi::Comm& all = state_.context->world->all();
    const std::uint64_t end = first_ + prepared_;
    for (std::uint64_t i = first_; i < end && mpi::all_succeeded(all, status_); ++i) do_stretch(i, meter);
    return status_;
  }

  [[nodiscard]] bool wants_sync() const override { return writes() && parameters().sync; }
  [[nodiscard]] Status sync() override { return file_ && status_ ? file_->sync() : Status{}; }
  [[nodiscard]] Status close() override {
    beside_ = nullptr;
    helpers_.reset();
    Status first;
    for (const auto& own : helper_files_) keep_first(first, own ? own->close() : Status{});
    if (!file_) return first;
    const Status closed = file_->close();
    granted_ = file_->hints_granted();
    return first ? closed : first;
  }

  [[nodiscard]] Verification after(std::uint64_t /*executed*/, Meter& /*progress*/) override { return verification_; }
  [[nodiscard]] Gauges gauges() const override {
    const auto rounds = static_cast<double>(shape_.rounds);
    return {{"io_s", seconds_of(times_.io_ns)},
            {"compute_s", seconds_of(times_.compute_ns)},
            {"both_s", seconds_of(times_.both_ns)},
            {"blocking_s", seconds_of(times_.blocking_ns)},
            {"start_s", seconds_of(times_.start_ns)},
            {"beside_s", seconds_of(times_.beside_ns)},
            {"wait_s", seconds_of(times_.wait_ns)},
            {"bytes", rounds * static_cast<double>(shape_.area_bytes())},
            {"batches", rounds * static_cast<double>(shape_.batches)},
            {"blocks", static_cast<double>(chain_.blocks())}};
  }

  [[nodiscard]] Map hints_given() const override { return state_.context->backend->hints_given(); }
  [[nodiscard]] Map hints_granted() const override { return with_hints_of(*state_.context->backend, granted_); }

 private:
  /// Adds up all rounds so far.
  struct Times {
    std::int64_t io_ns = 0;
    std::int64_t compute_ns = 0;
    std::int64_t both_ns = 0;
    std::int64_t blocking_ns = 0;
    std::int64_t start_ns = 0;
    std::int64_t beside_ns = 0;
    std::int64_t wait_ns = 0;
  };

  [[nodiscard]] bool writes() const { return direction_ == Direction::write; }
  [[nodiscard]] const OverlapParameters& parameters() const { return *state_.parameters; }
  [[nodiscard]] OpenRequest request_for(OpenMode mode) const {
    return {.name = state_.file_name(), .mode = mode, .expected_bytes = shape_.file_bytes()};
  }

  /// Helpers have the file open once more each: a file is used by one thread at a time.
  [[nodiscard]] Status open_for_overlap() {
    auto file = state_.context->backend->open(request_for(writes() ? OpenMode::create : OpenMode::read));
    if (!file) return fail(file.error());
    file_ = std::move(*file);
    if (parameters().method == OverlapMethod::nonblocking) {
      beside_ = file_->nonblocking();
      return beside_ != nullptr ? Status{} : fail(unsupported("begin a transfer", state_.file_name()));
    }
    for (auto& own_file : helper_files_) {
      auto own = state_.context->backend->open(request_for(writes() ? OpenMode::overwrite : OpenMode::read));
      if (!own) return fail(own.error());
      own_file = std::move(*own);
    }
    beside_ = helpers_.get();
    return {};
  }

  void do_stretch(std::uint64_t index, Meter& meter) {
    const Stretch stretch = shape_.stretch(index);
    const bool moves = stretch != Stretch::compute;
    if (moves) make_ready(index);
    state_.context->world->all().barrier();
    meter.resume(now_ns());
    const std::int64_t took_ns = take_time(stretch);
    (void)meter.completed(moves && status_ ? shape_.area_bytes() : 0);  // no rank stops alone
    if (moves && status_ && !writes()) check_area();
    if (index + 1 == OverlapShape::warm_ups) size_computation(took_ns);
  }

  [[nodiscard]] std::int64_t take_time(Stretch stretch) {
    std::int64_t took_ns = 0;
    switch (stretch) {
      case Stretch::warm_up:
        return warm_up();
      case Stretch::io:
        times_.io_ns += took_ns = io_alone();
        break;
      case Stretch::compute:
        times_.compute_ns += took_ns = computation_alone();
        break;
      case Stretch::both:
        times_.both_ns += took_ns = both_at_once();
        break;
      case Stretch::blocking:
        times_.blocking_ns += took_ns = one_after_the_other();
        break;
    }
    return took_ns;
  }

  /// Read backwards area by area: what a kernel reads ahead of a stretch is what an earlier one has read.
  void make_ready(std::uint64_t index) {
    const std::uint64_t area = writes() ? shape_.area(index) : shape_.areas() - 1 - shape_.area(index);
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      Extent& extent = extents_[i];
      extent.offset_bytes = shape_.offset_bytes(area, i);
      const std::span<std::byte> data{extent.data, extent.length_bytes};
      if (writes())
        payload_.fill(data, state_.rank(), extent.offset_bytes);
      else
        Payload::poison(data);
    }
  }

  void check_area() {
    if (parameters().verify == Verify::none) return;
    for (const Extent& extent : extents_) {
      add_check(verification_, extent.length_bytes,
                payload_.check({extent.data, extent.length_bytes}, state_.rank(), extent.offset_bytes),
                [this](const Mismatch& wrong) { return wrong_data(*state_.context, state_.file_name(), wrong); });
    }
  }

  /// Makes a computation as long as the I/O of a batch on the slowest rank, times what was asked for.
  void size_computation(std::int64_t batch_ns) {
    const auto slowest_ns = static_cast<double>(state_.context->world->all().max(batch_ns));
    const std::uint64_t blocks =
        parameters().blocks > 0 ? parameters().blocks : blocks_that_last(parameters().computation * slowest_ns);
    chain_ = ChainPieces(blocks, parameters().tests + 1);
  }

  [[nodiscard]] std::span<const Extent> batch(std::uint64_t index) const {
    const auto depth = static_cast<std::size_t>(shape_.depth);
    return std::span(extents_).subspan(static_cast<std::size_t>(index) * depth, depth);
  }

  /// Of the errors the first counts.
  [[nodiscard]] bool keep(const Status& status) {
    keep_first(status_, status);
    return status.has_value();
  }
  /// The median time of a batch: one that was interrupted says nothing of the others.
  [[nodiscard]] std::int64_t warm_up() {
    std::ranges::fill(warm_up_ns_, 0);
    for (std::uint64_t i = 0; i < shape_.batches; ++i) {
      const std::int64_t begun = now_ns();
      beside_->start(direction_, batch(i));
      if (!keep(beside_->wait())) break;
      warm_up_ns_[i] = now_ns() - begun;
    }
    const auto middle = warm_up_ns_.begin() + static_cast<std::ptrdiff_t>(warm_up_ns_.size() / 2);
    std::ranges::nth_element(warm_up_ns_, middle);
    return *middle;
  }

  [[nodiscard]] std::int64_t io_alone() {
    const std::int64_t begun = now_ns();
    for (std::uint64_t i = 0; i < shape_.batches; ++i) {
      beside_->start(direction_, batch(i));
      if (!keep(beside_->wait())) break;
    }
    return now_ns() - begun;
  }

  [[nodiscard]] std::int64_t computation_alone() const {
    const std::int64_t begun = now_ns();
    for (std::uint64_t i = 0; i < shape_.batches; ++i) chain_.run();
    return now_ns() - begun;
  }

  [[nodiscard]] std::int64_t both_at_once() {
    const std::int64_t begun = now_ns();
    std::int64_t last = begun;
    for (std::uint64_t i = 0; i < shape_.batches; ++i) {
      beside_->start(direction_, batch(i));
      const std::int64_t started = now_ns();
      if (parameters().tests == 0)
        chain_.run();
      else
        chain_.run([this] { beside_->test(); });
      const std::int64_t computed = now_ns();
      const bool is_good = keep(beside_->wait());
      const std::int64_t ended = now_ns();
      times_.start_ns += started - last;
      times_.beside_ns += computed - started;
      times_.wait_ns += ended - computed;
      last = ended;
      if (!is_good) break;
    }
    return last - begun;
  }

  /// Does as an application that overlaps nothing: the rank's own thread makes blocking calls, then it computes.
  [[nodiscard]] std::int64_t one_after_the_other() {
    const std::int64_t begun = now_ns();
    for (std::uint64_t i = 0; i < shape_.batches; ++i) {
      if (!keep(file_->transfer(direction_, batch(i), blocking_.from_now()))) break;
      chain_.run();
    }
    return now_ns() - begun;
  }

  const OverlapState& state_;
  Direction direction_;
  OverlapShape shape_;
  Payload payload_;
  std::size_t slot_bytes_;
  std::vector<Extent> extents_;  // of the stretch
  std::vector<std::int64_t> warm_up_ns_;
  ChainPieces chain_;
  HelperClock blocking_;
  Times times_;
  Verification verification_;
  Status status_;  // of this rank
  std::unique_ptr<File> file_;
  std::vector<std::unique_ptr<File>> helper_files_;
  std::unique_ptr<HelperTransfers> helpers_;  // behind the files, which they use
  NonblockingTransfers* beside_ = nullptr;    // the helpers, or what the file has
  Map granted_;
};

}  // namespace ullage
