// SPDX-License-Identifier: Apache-2.0
// One phase of workload `pio` on one rank: a pattern and an operation, bound to open files and buffers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/count.hpp"
#include "base/json.hpp"
#include "base/payload.hpp"
#include "base/permutation.hpp"
#include "storage/backend.hpp"
#include "storage/buffer_ring.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/pio/pattern.hpp"
#include "storage/workloads/pio/pio.hpp"
#include "storage/workloads/shared_dataset.hpp"
#include "work/phase_work.hpp"

namespace ullage {

class PioPhase final : public PhaseWork {
 public:
  PioPhase(PioState& state, PioOperation operation)
      : state_(state),
        operation_(operation),
        pattern_(state.parameters.shape(state.ranks()), state.rank(),
                 operation != PioOperation::read && operation != PioOperation::reread),
        payload_(state.payload_spec(pattern_.unit_bytes())),
        calls_((pattern_.pieces() + state.parameters.pieces_a_call() - 1) / state.parameters.pieces_a_call()),
        ring_(*state.context.buffer, pattern_.unit_bytes() * state.parameters.pieces_a_call(),
              std::max<std::size_t>(64, state.capabilities.alignment_bytes)) {
    // Reads go into one buffer, as the calls come one after the other; those of read_again() into all the memory.
    const std::uint64_t count = makes_data() ? ring_.count_in(cached_bytes, most_pio_calls) : 1;
    const std::uint64_t used = count * ring_.distance_bytes();
    ring_.allocate(count, static_cast<std::size_t>(cached_bytes - std::min(cached_bytes, used)));
    if (!changes()) return;
    change_ = mix64(state.context.run_key + state.changes) | 1U;
    state.changes ^= change_;
    unaccounted_ = std::make_unique<Meter>();
    unaccounted_->use_histogram(false);
  }

  [[nodiscard]] PhaseInfo info() const override {
    PhaseInfo info;
    info.name = word_of(operation_);
    info.access = writes() ? Access::write : Access::read;
    info.collective = in_step();
    info.collective_sync = sees() && !state_.entry.per_process;
    info.bytes_at_once = pattern_.unit_bytes() * parameters().pieces_a_call();
    info.clock_stops = true;
    if (!writes()) info.data_of = "own";
    if (starts_cold()) info.cache_control = word_of(parameters().cache);
    if (state_.capabilities.direct) info.cache_control = "direct";
    const bool looks = state_.entry.per_process || state_.context.world->topology().leader();
    if (state_.capabilities.data && looks) info.files.push_back(state_.file_name());
    return info;
  }

  [[nodiscard]] Status allocate() override {
    if (sees()) view_.emplace(pattern_, state_.rank());
    prepared_calls_.reserve(sees() ? std::min(operations(), most_pio_calls) : 0);
    extents_.reserve(std::min(std::max(operations(), pattern_.most_pieces()), most_pio_calls));
    for (std::uint64_t i = 0; i < std::min(ring_.count(), calls_); ++i)
      if (makes_data())
        fill(call_at(i));
      else
        Payload::poison(call_at(i).data);
    Backend& backend = *state_.context.backend;
    Status status;
    if (!sees())
      status = backend.make_ready(state_.context.buffer->bytes(),
                                  {.window = makes_data() ? 0 : static_cast<std::size_t>(ring_.count())});
    if (changes()) keep_first(status, backend.ready_open(request(OpenMode::read)));
    keep_first(status, backend.ready_open(request(mode())));
    return status;
  }

  [[nodiscard]] Status before() override {
    if (makes_data() || !state_.capabilities.data) return {};
    Status status = refuse_holes();
    if (starts_cold() && parameters().cache == PioCache::advise && !state_.capabilities.direct) {
      if (state_.entry.per_process || state_.context.world->topology().leader())
        keep_first(status, state_.context.backend->drop_cached(state_.file_name()));
      state_.context.world->all().barrier();
    }
    return status;
  }

  [[nodiscard]] std::uint64_t operations() const override {
    const std::uint64_t a_call = parameters().pieces_a_call();
    return in_step() ? (pattern_.most_pieces() + a_call - 1) / a_call : calls_;
  }

  [[nodiscard]] std::uint64_t prepare(std::uint64_t first, std::uint64_t most) override {
    const std::uint64_t n = std::min(most, makes_data() ? ring_.count() : most_pio_calls);
    extents_.clear();
    prepared_calls_.clear();
    for (std::uint64_t i = first; i < first + n; ++i) {
      const Call call = call_at(i);
      if (makes_data() && i >= ring_.count()) fill(call);
      if (sees())
        prepared_calls_.push_back(call);
      else
        extents_.push_back(
            {call.first < call.end ? pattern_.piece(call.first).offset_bytes : 0, call.data.size(), call.data.data()});
    }
    return n;
  }

  [[nodiscard]] Status open() override {
    if (sees()) return open_views();
    Backend& backend = *state_.context.backend;
    if (changes()) {
      auto file = backend.open(request(OpenMode::read));
      if (!file) return fail(file.error());
      read_file_ = std::move(*file);
    }
    auto file = backend.open(request(mode()));
    if (!file) return fail(file.error());
    file_ = std::move(*file);
    return {};
  }

  [[nodiscard]] Status execute(Meter& meter) override {
    if (sees()) return viewed_ ? move_through_view(meter) : Status{};
    if (!file_) return {};
    if (changes()) return change_at_offsets(meter);
    return file_->transfer(writes() ? Direction::write : Direction::read, extents_, meter);
  }

  [[nodiscard]] bool wants_sync() const override { return writes() && parameters().sync; }

  [[nodiscard]] Status sync() override {
    if (sees()) return viewed_ ? viewed_->sync() : Status{};
    return file_ ? file_->sync() : Status{};
  }

  [[nodiscard]] Status close() override {
    Status first;
    // What is written comes first: a rank in error meets there the syncs of the others.
    const auto close_one = [&](auto& file, bool tells) {
      if (!file) return;
      Map of_file;
      keep_first(first, close_and_keep_hints(*file, of_file));
      if (tells) hints_granted_ = std::move(of_file);
      file.reset();
    };
    close_one(viewed_, true);
    close_one(read_viewed_, false);
    close_one(file_, true);
    close_one(read_file_, false);
    return first;
  }

  /// What a read has left in its buffer is looked at there; else what lies in the files, which every rank has closed:
  /// the runner's agreement has come between.
  [[nodiscard]] Verification after(std::uint64_t executed, Meter& progress) override {
    Verification verification;
    if (parameters().verify == PioVerify::none || !state_.capabilities.data) return verification;
    if (!writes() && executed > 0) check(call_at(executed - 1), verification);
    const std::uint64_t wanted = std::max<std::uint64_t>(pio_kept_bytes / pattern_.unit_bytes(), 1);
    const bool all = parameters().verify == PioVerify::full || wanted >= pattern_.most_pieces();
    read_again(all ? 0 : pattern_.most_pieces() - wanted, progress, verification);
    return verification;
  }

  void add_facts(Json& facts) const override {
    facts = {{"pattern", word_of(pattern_.shape().kind)},
             {"calls", operations()},
             {"data_bytes", pattern_.data_bytes()},
             {"file_bytes", pattern_.file_bytes()}};
    if (operation_ == PioOperation::write && !pattern_.shape().is_listed())
      facts["picture"] = picture_of(pattern_.shape());
  }

  [[nodiscard]] Map hints_given() const override { return state_.context.backend->hints_given(); }

  [[nodiscard]] Map hints_granted() const override { return with_hints_of(*state_.context.backend, hints_granted_); }

 private:
  /// Pieces [first, end) of the rank, which one call moves from or to `data`.
  struct Call {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::span<std::byte> data;
  };

  [[nodiscard]] const PioParameters& parameters() const { return state_.parameters; }
  [[nodiscard]] bool writes() const { return operation_ != PioOperation::read && operation_ != PioOperation::reread; }
  [[nodiscard]] bool makes_data() const {
    return operation_ == PioOperation::write || operation_ == PioOperation::rewrite;
  }
  [[nodiscard]] bool changes() const { return operation_ == PioOperation::read_modify_write; }
  [[nodiscard]] bool sees() const { return parameters().through == PioThrough::view; }
  /// Ranks go through their calls together.
  [[nodiscard]] bool in_step() const {
    return sees() ? parameters().collective : state_.capabilities.collective && !state_.entry.per_process;
  }
  [[nodiscard]] bool starts_cold() const { return operation_ == PioOperation::read || changes(); }
  [[nodiscard]] std::uint64_t writer() const { return state_.entry.per_process ? state_.rank() : 0; }

  [[nodiscard]] Call call_at(std::uint64_t index) const {
    const std::uint64_t a_call = parameters().pieces_a_call();
    Call call{std::min(index * a_call, pattern_.pieces()), std::min((index + 1) * a_call, pattern_.pieces()), {}};
    std::uint64_t bytes = (call.end - call.first) * pattern_.unit_bytes();
    if (pattern_.shape().varies() && call.end > call.first) {
      bytes = 0;
      for (std::uint64_t i = call.first; i < call.end; ++i) bytes += pattern_.piece(i).length_bytes;
    }
    call.data = ring_[index].first(static_cast<std::size_t>(bytes));
    return call;
  }

  /// Where the data of a piece is in that of its writer.
  [[nodiscard]] std::uint64_t place_of(const PioPiece& piece) const {
    return pattern_.shape().is_listed() ? piece.offset_bytes : piece.number * pattern_.unit_bytes();
  }

  void fill(const Call& call) const {
    std::span<std::byte> rest = call.data;
    for (std::uint64_t i = call.first; i < call.end; ++i) {
      const PioPiece piece = pattern_.piece(i);
      payload_.fill(rest.first(static_cast<std::size_t>(piece.length_bytes)), writer(), place_of(piece));
      rest = rest.subspan(static_cast<std::size_t>(piece.length_bytes));
    }
  }

  void check(const Call& call, Verification& verification) const {
    std::span<std::byte> rest = call.data;
    for (std::uint64_t i = call.first; i < call.end; ++i) {
      const PioPiece piece = pattern_.piece(i);
      check_piece(piece, rest.first(static_cast<std::size_t>(piece.length_bytes)), verification);
      rest = rest.subspan(static_cast<std::size_t>(piece.length_bytes));
    }
  }

  void check_piece(const PioPiece& piece, std::span<std::byte> data, Verification& verification) const {
    change_pio_data(data, state_.changes);
    const std::uint64_t begin = place_of(piece);
    add_check(verification, data.size(), payload_.check(data, writer(), begin), [&](Mismatch wrong) {
      wrong.offset_bytes += piece.offset_bytes - begin;
      return wrong_data(state_.context, state_.file_name(), wrong);
    });
  }

  /// What the pattern itself leaves out is nobody's.
  [[nodiscard]] Status refuse_holes() const {
    if (!state_.entry.per_process && !state_.context.world->root()) return {};
    const bool has_own = pattern_.shape().has_holes() || pattern_.shape().base_bytes > 0;
    return check_written(*state_.context.backend, state_.file_name(), pattern_.file_bytes(), has_own ? 0 : never);
  }

  [[nodiscard]] OpenMode mode() const {
    if (operation_ == PioOperation::write) return OpenMode::create;
    return writes() ? OpenMode::overwrite : OpenMode::read;
  }

  [[nodiscard]] OpenRequest request(OpenMode mode) const {
    OpenRequest request;
    request.name = state_.file_name();
    request.shared = !state_.entry.per_process;
    request.expected_bytes = pattern_.file_bytes();
    request.mode = mode;
    return request;
  }

  /// A rank whose view could not be set goes along with the others: its file remembers.
  [[nodiscard]] Status open_views() {
    Backend& backend = *state_.context.backend;
    Status status;
    if (changes()) {
      auto file = backend.open_viewed(request(OpenMode::read), {});
      if (!file) return fail(file.error());
      read_viewed_ = std::move(*file);
      status = read_viewed_->set_view(view_->view, {});
    }
    auto file = backend.open_viewed(request(mode()), {});
    if (!file) return fail(file.error());
    viewed_ = std::move(*file);
    keep_first(status, viewed_->set_view(view_->view, {}));
    return status;
  }

  [[nodiscard]] Status move_through_view(Meter& meter) {
    Status first;
    for (const Call& call : prepared_calls_) {
      const Status moved = move_call(call);
      keep_first(first, moved);
      if (!moved && !in_step()) break;
      if (moved && !meter.completed(call.data.size())) break;
    }
    return first;
  }

  /// A rank that could not read writes nothing, but takes part.
  [[nodiscard]] Status move_call(const Call& call) {
    const auto data = call.data;
    const Pointer pointer = in_step() ? Pointer::together : Pointer::individual;
    if (!changes()) return viewed_->move(writes() ? Direction::write : Direction::read, pointer, data);
    const Status read = read_viewed_->move(Direction::read, pointer, data);
    if (!read && !in_step()) return read;
    if (read) change(call);
    const Status written = viewed_->move(Direction::write, pointer, read ? data : data.first(0));
    return read ? written : read;
  }

  /// Changes data as it was made: each piece from its beginning on.
  void change(const Call& call) const {
    const bool varies = pattern_.shape().varies();
    std::span<std::byte> rest = call.data;
    for (std::uint64_t i = call.first; i < call.end; ++i) {
      const auto bytes = static_cast<std::size_t>(varies ? pattern_.piece(i).length_bytes : pattern_.unit_bytes());
      change_pio_data(rest.first(bytes), change_);
      rest = rest.subspan(bytes);
    }
  }

  /// A read, a change and a write of the same bytes are one operation, whose bytes count once.
  [[nodiscard]] Status change_at_offsets(Meter& meter) {
    Status first;
    for (Extent extent : extents_) {
      unaccounted_->start(0);
      Status status = read_file_->transfer(Direction::read, {&extent, 1}, *unaccounted_);
      keep_first(first, status);
      if (!status && !in_step()) break;
      if (status)
        change_pio_data({extent.data, extent.length_bytes}, change_);
      else
        extent.length_bytes = 0;
      status = file_->transfer(Direction::write, {&extent, 1}, meter);
      keep_first(first, status);
      if (!in_step() && (!status || !meter.goes_on())) break;
    }
    return first;
  }

  /// Pieces [first, first + n) as extents with buffers of their own, poisoned; empty ones where this rank has none.
  void list_again(std::uint64_t first, std::uint64_t n, std::size_t slot) {
    extents_.clear();
    for (std::uint64_t i = first; i < first + n; ++i) {
      const auto data = state_.context.buffer->bytes().subspan(static_cast<std::size_t>(i - first) * slot, slot);
      const PioPiece piece = i < pattern_.pieces() ? pattern_.piece(i) : PioPiece{};
      extents_.push_back({piece.offset_bytes, static_cast<std::size_t>(piece.length_bytes), data.data()});
      Payload::poison(data.first(extents_.back().length_bytes));
    }
  }

  /// Pieces from `first` on, by explicit offsets, whatever calls have written them. Collective where the backend's
  /// calls are.
  void read_again(std::uint64_t first, Meter& progress, Verification& verification) {
    const bool together = state_.capabilities.collective && !state_.entry.per_process;
    const std::uint64_t end = together ? pattern_.most_pieces() : pattern_.pieces();
    const auto buffer = state_.context.buffer->bytes();
    const std::size_t slot = round_up<std::size_t>(static_cast<std::size_t>(pattern_.unit_bytes()),
                                                   std::max<std::size_t>(64, state_.capabilities.alignment_bytes));
    const std::uint64_t a_batch = std::clamp<std::uint64_t>(cached_bytes / slot, 1, most_pio_calls);
    progress.start(now_ns());
    Status status = state_.context.backend->make_ready(buffer, {});
    auto file = state_.context.backend->open(request(OpenMode::read));
    if (!file) keep_first(status, fail(file.error()));
    for (std::uint64_t i = first; file && i < end && (status || together); i += a_batch) {
      const std::uint64_t n = std::min(a_batch, end - i);
      list_again(i, n, slot);
      keep_first(status, (*file)->transfer(Direction::read, extents_, progress));
      for (std::uint64_t k = 0; status && k < n && i + k < pattern_.pieces(); ++k)
        check_piece(pattern_.piece(i + k), {extents_[k].data, extents_[k].length_bytes}, verification);
    }
    if (file) keep_first(status, (*file)->close());
    if (!status && !verification.first) verification.first = status.error();
  }

  PioState& state_;
  PioOperation operation_;
  PioPattern pattern_;
  Payload payload_;
  std::uint64_t change_ = 0;  // of this phase
  std::uint64_t calls_;       // of this rank
  BufferRing ring_;
  std::vector<Extent> extents_;
  std::vector<Call> prepared_calls_;
  std::optional<PioView> view_;
  std::unique_ptr<File> file_;
  std::unique_ptr<File> read_file_;  // of read-modify-write
  std::unique_ptr<ViewedFile> viewed_;
  std::unique_ptr<ViewedFile> read_viewed_;
  std::unique_ptr<Meter> unaccounted_;  // of its reads, which are part of an operation
  Map hints_granted_;
};

}  // namespace ullage
