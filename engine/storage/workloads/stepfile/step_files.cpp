// SPDX-License-Identifier: Apache-2.0
#include "storage/workloads/stepfile/step_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <utility>

#include "base/aligned_buffer.hpp"
#include "base/count.hpp"

namespace ullage {
namespace {

constexpr std::uint64_t tier_block_bytes = 4096;  // of most file systems

}  // namespace

StepTiers::StepTiers(const StorageContext& first, std::uint64_t states, std::uint64_t state_bytes) : states_(states) {
  const std::uint64_t each = round_up(state_bytes, tier_block_bytes);
  const bool counts = !first.spill.empty();
  tiers_.emplace_back(&first, counts ? first.room_bytes / each : std::numeric_limits<std::uint64_t>::max());
  for (const StorageContext& further : first.spill) tiers_.emplace_back(&further, further.room_bytes / each);
  if (counts) places_.resize(states);
}

Status StepTiers::check_room() const {
  std::uint64_t room = 0;
  for (const Tier& tier : tiers_) {
    if (tier.capacity >= states_) return {};
    room += tier.capacity;
  }
  if (room >= states_) return {};
  return fail(environment_error("targets", "have room for " + std::to_string(room) + " states of a rank, of " +
                                               std::to_string(states_) + "; fewer steps or smaller states fit"));
}

Result<std::size_t> StepTiers::take() {
  if (tiers_.size() == 1) return 0;
  for (std::size_t i = 0; i < tiers_.size(); ++i) {
    if (tiers_[i].full) continue;
    if (tiers_[i].used.fetch_add(1) < tiers_[i].capacity) return i;
    tiers_[i].used.fetch_sub(1);
  }
  return fail(errno_error(ENOSPC, "write", "all targets of the case"));
}

void StepTiers::filled(std::size_t tier) {
  tiers_[tier].full = true;
  tiers_[tier].used.fetch_sub(1);
}

bool found_no_room(const Error& error) noexcept {
  return error.kind == ErrorKind::io && (error.errno_value == ENOSPC || error.errno_value == EDQUOT);
}

namespace {

Status move_whole(File& file, Direction direction, std::uint64_t offset_bytes, std::span<std::byte> data,
                  Meter& meter) {
  const std::array<Extent, 1> extents{Extent{offset_bytes, data.size(), data.data()}};
  return file.transfer(direction, extents, meter);
}

}  // namespace

std::uint64_t StepFiles::log_stride(const StepfileState& state) {
  return round_up<std::uint64_t>(state.parameters->state_bytes, state.capabilities.alignment_bytes);
}

void StepFiles::name_ahead(std::span<const std::uint64_t> places) {
  named_.clear();
  next_named_ = 0;
  if (state_.parameters->in_log()) return;
  for (const std::uint64_t place : places) named_.push_back({place, state_.file_of(place)});
}

/// A name that was made ahead is used once. A state that is written again to the next target has its name made anew.
std::string StepFiles::name_of(std::uint64_t place) {
  if (next_named_ == named_.size() || named_[next_named_].place != place) return state_.file_of(place);
  return std::move(named_[next_named_++].name);
}

Result<std::unique_ptr<File>> StepFiles::open(const StorageContext& where, std::uint64_t place, OpenMode mode,
                                              std::uint64_t bytes) {
  OpenRequest request;
  request.name = name_of(place);
  request.mode = mode;
  request.expected_bytes = bytes;
  return where.backend->open(request);
}

Result<StepTimes> StepFiles::write(const Write& write, HelperClock& clock) {
  if (state_.parameters->in_log()) return append(write, clock);
  if (write.again) return write_at(state_.tiers->of(write.place), write, clock.now_ns(), clock);
  return write_where_room_is(write, clock);
}

/// What a target without room has taken of the state is removed, and the attempt is a part of opening the file.
Result<StepTimes> StepFiles::write_where_room_is(const Write& write, HelperClock& clock) {
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

Result<StepTimes> StepFiles::write_at(const StorageContext& where, const Write& write, std::int64_t begun_ns,
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

Result<StepTimes> StepFiles::read(std::uint64_t place, std::span<std::byte> data, bool removes, HelperClock& clock) {
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

Result<StepTimes> StepFiles::append(const Write& write, HelperClock& clock) {
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

Result<StepTimes> StepFiles::read_log(std::uint64_t step, std::span<std::byte> data, HelperClock& clock) {
  if (!index_.has(step))
    return fail(
        verification_error("read", state_.file_of(0), "the index has no state of step " + std::to_string(step)));
  const std::int64_t begun = clock.now_ns();
  if (auto status = move_whole(*log_, Direction::read, index_.offset_of(step), data, clock.meter_from(begun)); !status)
    return fail(status.error());
  return StepTimes{.transfer_ns = clock.now_ns() - begun};
}

std::size_t StepFiles::index_bytes() const {
  return LogIndex::bytes(state_.parameters->steps, state_.capabilities.alignment_bytes);
}

Status StepFiles::move_index(Direction direction, std::span<std::byte> place) {
  HelperClock clock;
  const std::uint64_t behind = state_.parameters->steps * log_stride(state_);
  return move_whole(*log_, direction, behind, place, clock.meter_from(clock.now_ns()));
}

Status StepFiles::open_log(OpenMode mode) {
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

Status StepFiles::write_index() {
  if (!log_ || !std::exchange(index_due_, false)) return {};
  AlignedBuffer buffer(index_bytes());
  index_.encode(buffer.bytes().first(index_bytes()));
  return move_index(Direction::write, buffer.bytes().first(index_bytes()));
}

Status StepFiles::sync_log() { return log_ ? log_->sync() : Status{}; }

Status StepFiles::close_log() {
  if (!log_) return {};
  const Status status = log_->close();
  log_.reset();
  return status;
}

}  // namespace ullage
