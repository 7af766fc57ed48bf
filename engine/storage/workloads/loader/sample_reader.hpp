// SPDX-License-Identifier: Apache-2.0
// Reads the samples of one accelerator into its slots, by the backend's own calls for files.
#pragma once

#include "base/clock.hpp"
#include "base/count.hpp"
#include "base/helper_threads.hpp"
#include "storage/workloads/loader/loader_state.hpp"
#include "storage/workloads/loader/training_account.hpp"
#include "storage/workloads/shared_dataset.hpp"

namespace ullage {

/// A slot holds one call's piece of its sample, in the end the last one. Threads read at the same time, each with what
/// it owns.
class SampleReader final {
 public:
  struct Own {
    HelperClock clock;
    OpenRequest request;
    std::vector<Extent> extents;
  };

  /// `memory`: of all slots, bytes_needed() of it.
  SampleReader(const LoaderState& state, const SampleOrder& order, std::span<std::byte> memory)
      : state_(state), order_(order), contents_(state.contents()), memory_(memory) {}

  [[nodiscard]] static std::size_t slot_bytes(const LoaderState& state) {
    const std::uint64_t piece = std::min(state.parameters->transfer_bytes, state.files.sizes().largest());
    return round_up<std::size_t>(piece, std::max(buffer_alignment, state.capabilities.alignment_bytes));
  }

  [[nodiscard]] static std::size_t bytes_needed(const LoaderState& state) {
    return static_cast<std::size_t>(state.parameters->window()) * slot_bytes(state);
  }

  /// What an earlier epoch left in a slot must not pass for what is read there now.
  void poison() { Payload::poison(memory_); }

  /// Names and extents are made before the first of the times.
  [[nodiscard]] Result<SampleTimes> read(std::uint64_t index, Own& own) {
    const std::uint64_t sample = order_(index);
    const SamplePlace place = state_.files.place(sample);
    own.request = request_of(place);
    cut(place, slot(index), own.extents);
    const std::int64_t begun = own.clock.now_ns();
    const auto file = state_.context->backend->open(own.request);
    if (!file) return fail(file.error());
    const std::int64_t opened = own.clock.now_ns();
    Status status = (*file)->transfer(Direction::read, own.extents, own.clock.meter_from(opened));
    const std::int64_t moved = own.clock.now_ns();
    const Status closed = (*file)->close();
    if (status) status = closed;
    if (!status) return fail(status.error());
    return SampleTimes{opened - begun,
                       moved - opened,
                       own.clock.now_ns() - moved,
                       place.bytes,
                       state_.own_group == state_.files.group_of(sample),
                       now_ns()};
  }

  // After the timer, by one thread.
  /// What the slots hold after samples [0, read).
  void check_kept(std::uint64_t read, Verification& verification) {
    const std::uint64_t first = read - std::min(read, state_.parameters->window());
    std::vector<Extent> pieces;
    for (std::uint64_t index = first; index < read; ++index) {
      const SamplePlace place = state_.files.place(order_(index));
      cut(place, slot(index), pieces);
      check_piece(place, pieces.back(), verification);
    }
  }

  /// Reads sample `index` again and looks at each piece.
  [[nodiscard]] Status check_again(std::uint64_t index, Meter& progress, Verification& verification) {
    const SamplePlace place = state_.files.place(order_(index));
    const auto file = state_.context->backend->open(request_of(place));
    if (!file) return fail(file.error());
    std::vector<Extent> pieces;
    cut(place, slot(0), pieces);
    Status status;
    for (const Extent& piece : pieces) {
      Payload::poison({piece.data, piece.length_bytes});
      status = (*file)->transfer(Direction::read, {&piece, 1}, progress);
      if (!status) break;
      check_piece(place, piece, verification);
    }
    const Status closed = (*file)->close();
    return status ? closed : status;
  }

 private:
  [[nodiscard]] std::span<std::byte> slot(std::uint64_t index) {
    const std::size_t size = slot_bytes(state_);
    return memory_.subspan(static_cast<std::size_t>(index % state_.parameters->window()) * size, size);
  }

  [[nodiscard]] OpenRequest request_of(const SamplePlace& place) const {
    return {.name = state_.dataset.file_name(place.file), .mode = OpenMode::read};
  }

  void cut(const SamplePlace& place, std::span<std::byte> buffer, std::vector<Extent>& extents) const {
    extents.clear();
    for (std::uint64_t done = 0; done < place.bytes; done += extents.back().length_bytes)
      extents.push_back({place.offset_bytes + done,
                         static_cast<std::size_t>(std::min(place.bytes - done, state_.parameters->transfer_bytes)),
                         buffer.data()});
  }

  void check_piece(const SamplePlace& place, const Extent& piece, Verification& verification) const {
    add_check(verification, piece.length_bytes,
              contents_.check({piece.data, piece.length_bytes}, state_.position_of(place.file, piece.offset_bytes)),
              [&](Mismatch wrong) {
                wrong.offset_bytes -= state_.position_of(place.file, 0);
                return wrong_data(*state_.context, state_.dataset.file_name(place.file), wrong);
              });
  }

  const LoaderState& state_;
  SampleOrder order_;
  PositionContents contents_;
  std::span<std::byte> memory_;
};

}  // namespace ullage
