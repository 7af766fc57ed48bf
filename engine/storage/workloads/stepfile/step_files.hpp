// SPDX-License-Identifier: Apache-2.0
// The files of one rank's states, and which target has them: written and read whole, each call of a file timed apart.
#pragma once

#include <atomic>
#include <cerrno>
#include <deque>

#include "base/aligned_buffer.hpp"
#include "base/count.hpp"
#include "base/helper_threads.hpp"
#include "base/result.hpp"
#include "base/std.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/stepfile/stepfile.hpp"

namespace ullage {

// Which of a case's targets holds which state of a rank.

inline constexpr std::uint64_t tier_block_bytes = 4096;  // of most file systems

/// A state goes to the first target that has room for it: as many states as the limits of the run allow, or until the
/// target is full. With a single target everything is there, and nobody counts. Several threads may ask for room and
/// enter places at once, each its own places.
class StepTiers final {
 public:
  /// `states`: that this rank keeps, each of `state_bytes`.
  StepTiers(const StorageContext& first, std::uint64_t states, std::uint64_t state_bytes) : states_(states) {
    const std::uint64_t each = round_up(state_bytes, tier_block_bytes);
    const bool counts = !first.spill.empty();
    tiers_.emplace_back(&first, counts ? first.room_bytes / each : std::numeric_limits<std::uint64_t>::max());
    for (const StorageContext& further : first.spill) tiers_.emplace_back(&further, further.room_bytes / each);
    if (counts) places_.resize(states);
  }

  [[nodiscard]] std::size_t size() const noexcept { return tiers_.size(); }
  [[nodiscard]] const StorageContext& at(std::size_t tier) const { return *tiers_[tier].context; }
  /// Returns where a place is; of one that nobody has entered, the first target.
  [[nodiscard]] const StorageContext& of(std::uint64_t place) const { return at(tier_of(place)); }
  [[nodiscard]] std::size_t tier_of(std::uint64_t place) const { return tiers_.size() == 1 ? 0 : places_[place]; }

  /// An error where all targets together have no room for the states of this rank.
  [[nodiscard]] Status check_room() const {
    std::uint64_t room = 0;
    for (const Tier& tier : tiers_) {
      if (tier.capacity >= states_) return {};
      room += tier.capacity;
    }
    if (room >= states_) return {};
    return fail(environment_error("targets", "have room for " + std::to_string(room) + " states of a rank, of " +
                                                 std::to_string(states_) + "; fewer steps or smaller states fit"));
  }

  /// The target for one more state.
  [[nodiscard]] Result<std::size_t> take() {
    if (tiers_.size() == 1) return 0;
    for (std::size_t i = 0; i < tiers_.size(); ++i) {
      if (tiers_[i].full) continue;
      if (tiers_[i].used.fetch_add(1) < tiers_[i].capacity) return i;
      tiers_[i].used.fetch_sub(1);
    }
    return fail(errno_error(ENOSPC, "write", "all targets of the case"));
  }

  /// Nothing more goes there; what was taken for the state that found no room is given back.
  void filled(std::size_t tier) {
    tiers_[tier].full = true;
    tiers_[tier].used.fetch_sub(1);
  }

  void enter(std::uint64_t place, std::size_t tier) {
    if (tiers_.size() > 1) places_[place] = static_cast<std::uint8_t>(tier);
  }

 private:
  struct Tier {
    Tier(const StorageContext* bound, std::uint64_t most) : context(bound), capacity(most) {}
    const StorageContext* context;
    std::uint64_t capacity;              // states that the limits allow
    std::atomic<std::uint64_t> used{0};  // threads of the rank add to it
    std::atomic<bool> full{false};       // any thread says so
  };
  std::deque<Tier> tiers_;
  std::vector<std::uint8_t> places_;  // each byte is of one place, which one thread writes
  std::uint64_t states_;
};

/// Returns whether the call failed because its target has no more room.
[[nodiscard]] inline bool found_no_room(const Error& error) noexcept {
  return error.kind == ErrorKind::io && (error.errno_value == ENOSPC || error.errno_value == EDQUOT);
}

/// Says how long this rank waits between its last computation forward and its first one backward. What Ullage does
/// between the phases is in neither part.
struct Turnaround {
  std::int64_t forward_ns = 0;  // until its states are written and its files closed
  std::int64_t adjoint_ns = 0;  // until the first state is read
};

/// Holds what every phase of a repetition shares on this rank.
struct StepfileState {
  const StepfileParameters* parameters = nullptr;
  const StorageContext* context = nullptr;
  Capabilities capabilities;
  DatasetEntry dataset;
  StepTiers* tiers = nullptr;
  Turnaround* turnaround = nullptr;

  [[nodiscard]] const StepShape& shape() const { return *dataset.steps; }
  [[nodiscard]] std::uint64_t rank() const { return static_cast<std::uint64_t>(context->world->rank()); }
  /// The file that holds state `place`, a step or a slot of revolve.
  [[nodiscard]] std::string file_of(std::uint64_t place) const {
    constexpr std::size_t longest = 128;  // of a path below the dataset's directory
    std::string path;
    path.reserve(dataset.directory.size() + longest);
    path.append(dataset.directory) += '/';
    shape().append_file_path(path, rank(), place);
    return path;
  }
};

/// Says how long the calls for one state took; 0 for those that were not made.
struct StepTimes {
  std::int64_t open_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t sync_ns = 0;
  std::int64_t close_ns = 0;
  std::int64_t remove_ns = 0;
};

inline Status move_whole(File& file, Direction direction, std::uint64_t offset_bytes, std::span<std::byte> data,
                         Meter& meter) {
  const std::array<Extent, 1> extents{Extent{offset_bytes, data.size(), data.data()}};
  return file.transfer(direction, extents, meter);
}

/// Several threads may move states of their own files at once, each with its own clock; a log by one thread at a time.
class StepFiles final {
 public:
  explicit StepFiles(const StepfileState& state) : state_(state), index_(state.parameters->kept()) {}

  struct Write {
    std::uint64_t place = 0;  // a step, or a slot of revolve
    std::span<std::byte> data;
    bool again = false;  // the file is there
    bool syncs = false;
  };

  /// Makes the names of these places, in the order in which their files are opened next: outside of the timer.
  void name_ahead(std::span<const std::uint64_t> places) {
    named_.clear();
    next_named_ = 0;
    if (state_.parameters->in_log()) return;
    for (const std::uint64_t place : places) named_.push_back({place, state_.file_of(place)});
  }

  [[nodiscard]] Result<StepTimes> write(const Write& write, HelperClock& clock) {
    if (state_.parameters->in_log()) return append(write, clock);
    if (write.again) return write_at(state_.tiers->of(write.place), write, clock.now_ns(), clock);
    return write_where_room_is(write, clock);
  }

  [[nodiscard]] Result<StepTimes> read(std::uint64_t place, std::span<std::byte> data, bool removes,
                                       HelperClock& clock) {
    if (state_.parameters->in_log()) return read_log(place, data, clock);
    StepTimes times;
    const std::int64_t begun = clock.now_ns();
    const StorageContext& where = state_.tiers->of(place);
    const auto file = open(where, place, OpenMode::read, data.size());
    if (!file) return fail(file.error());
    const std::int64_t opened = clock.now_ns();
    Status status = move_whole(**file, Direction::read, 0, data, clock.meter_from(opened));
    const std::int64_t moved = clock.now_ns();
    const Status closed = (*file)->close();
    if (status) status = closed;
    const std::int64_t closed_at = clock.now_ns();
    if (status && removes) status = where.backend->remove_file(state_.file_of(place));
    if (!status) return fail(status.error());
    times = {opened - begun, moved - opened, 0, closed_at - moved, removes ? clock.now_ns() - closed_at : 0};
    return times;
  }

  /// The log is made, or opened and its index read. Nothing without a log.
  [[nodiscard]] Status open_log(OpenMode mode) {
    if (!state_.parameters->in_log()) return {};
    auto file = open(*state_.context, 0, mode, state_.parameters->steps * log_stride(state_) + index_bytes());
    if (!file) return fail(file.error());
    log_ = std::move(*file);
    log_end_ = 0;
    index_due_ = mode == OpenMode::create;
    if (mode != OpenMode::read) return {};
    if (!state_.capabilities.data) {  // nothing comes back: the index is what it would be
      for (std::uint64_t step = 0; step < state_.parameters->steps; ++step) index_.put(step, step * log_stride(state_));
      return {};
    }
    AlignedBuffer buffer(index_bytes());
    if (auto status = move_index(Direction::read, buffer.bytes().first(index_bytes())); !status) return status;
    auto found = LogIndex::decode(buffer.bytes().first(index_bytes()), state_.parameters->steps);
    if (!found) return fail(verification_error("read", state_.file_of(0), found.error()));
    index_ = std::move(*found);
    return {};
  }

  /// Writes the index behind the last state.
  [[nodiscard]] Status write_index() {
    if (!log_ || !std::exchange(index_due_, false)) return {};
    AlignedBuffer buffer(index_bytes());
    index_.encode(buffer.bytes().first(index_bytes()));
    return move_index(Direction::write, buffer.bytes().first(index_bytes()));
  }

  [[nodiscard]] Status sync_log() { return log_ ? log_->sync() : Status{}; }

  [[nodiscard]] Status close_log() {
    if (!log_) return {};
    const Status status = log_->close();
    log_.reset();
    return status;
  }

  /// Returns the bytes from one state of the log to the next.
  [[nodiscard]] static std::uint64_t log_stride(const StepfileState& state) {
    return round_up<std::uint64_t>(state.parameters->state_bytes, state.capabilities.alignment_bytes);
  }

 private:
  struct Named {
    std::uint64_t place;
    std::string name;
  };

  [[nodiscard]] Result<std::unique_ptr<File>> open(const StorageContext& where, std::uint64_t place, OpenMode mode,
                                                   std::uint64_t bytes) {
    const OpenRequest request{.name = name_of(place), .mode = mode, .expected_bytes = bytes};
    return where.backend->open(request);
  }

  /// A name that was made ahead is used once. A state that is written again to the next target has its name made anew.
  [[nodiscard]] std::string name_of(std::uint64_t place) {
    if (next_named_ == named_.size() || named_[next_named_].place != place) return state_.file_of(place);
    return std::move(named_[next_named_++].name);
  }

  [[nodiscard]] Result<StepTimes> write_at(const StorageContext& where, const Write& write, std::int64_t begun_ns,
                                           HelperClock& clock) {
    const auto file = open(where, write.place, write.again ? OpenMode::overwrite : OpenMode::create, write.data.size());
    if (!file) return fail(file.error());
    const std::int64_t opened = clock.now_ns();
    Status status = move_whole(**file, Direction::write, 0, write.data, clock.meter_from(opened));
    const std::int64_t moved = clock.now_ns();
    if (status && write.syncs) status = (*file)->sync();
    const std::int64_t synced = write.syncs ? clock.now_ns() : moved;
    const Status closed = (*file)->close();
    if (status) status = closed;
    if (!status) return fail(status.error());
    return StepTimes{opened - begun_ns, moved - opened, synced - moved, clock.now_ns() - synced, 0};
  }

  /// What a target without room has taken of the state is removed, and the attempt is a part of opening the file.
  [[nodiscard]] Result<StepTimes> write_where_room_is(const Write& write, HelperClock& clock) {
    const std::int64_t begun = clock.now_ns();
    for (;;) {
      const auto tier = state_.tiers->take();
      if (!tier) return fail(tier.error());
      const StorageContext& where = state_.tiers->at(*tier);
      auto times = write_at(where, write, begun, clock);
      if (times) state_.tiers->enter(write.place, *tier);
      if (times || !found_no_room(times.error()) || *tier + 1 == state_.tiers->size()) return times;
      state_.tiers->filled(*tier);
      (void)where.backend->remove_file(state_.file_of(write.place));  // it may not even have been made
    }
  }

  [[nodiscard]] Result<StepTimes> append(const Write& write, HelperClock& clock) {
    const std::int64_t begun = clock.now_ns();
    if (auto status = move_whole(*log_, Direction::write, log_end_, write.data, clock.meter_from(begun)); !status)
      return fail(status.error());
    index_.put(write.place, log_end_);
    log_end_ += log_stride(state_);
    const std::int64_t moved = clock.now_ns();
    if (!write.syncs) return StepTimes{.transfer_ns = moved - begun};
    if (auto status = log_->sync(); !status) return fail(status.error());
    return StepTimes{.transfer_ns = moved - begun, .sync_ns = clock.now_ns() - moved};
  }

  [[nodiscard]] Result<StepTimes> read_log(std::uint64_t step, std::span<std::byte> data, HelperClock& clock) {
    if (!index_.has(step))
      return fail(
          verification_error("read", state_.file_of(0), "the index has no state of step " + std::to_string(step)));
    const std::int64_t begun = clock.now_ns();
    if (auto status = move_whole(*log_, Direction::read, index_.offset_of(step), data, clock.meter_from(begun));
        !status)
      return fail(status.error());
    return StepTimes{.transfer_ns = clock.now_ns() - begun};
  }

  [[nodiscard]] Status move_index(Direction direction, std::span<std::byte> place) {
    HelperClock clock;
    const std::uint64_t behind = state_.parameters->steps * log_stride(state_);
    return move_whole(*log_, direction, behind, place, clock.meter_from(clock.now_ns()));
  }

  [[nodiscard]] std::size_t index_bytes() const {
    return LogIndex::bytes(state_.parameters->steps, state_.capabilities.alignment_bytes);
  }

  const StepfileState& state_;
  std::unique_ptr<File> log_;
  LogIndex index_;
  std::vector<Named> named_;  // by name_ahead(), used by the rank's own thread alone
  std::size_t next_named_ = 0;
  std::uint64_t log_end_ = 0;
  bool index_due_ = false;
};

// Threads of one rank that move states while it computes.

/// A slot for each state that is under way; each helper has its own clock.
using StepHelpers = HelperThreads<Result<StepTimes>, HelperClock>;

}  // namespace ullage
