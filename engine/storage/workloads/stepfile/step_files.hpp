// SPDX-License-Identifier: Apache-2.0
// The files of one rank's states, and which target has them: written and read whole, each call of a file timed apart.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/helper_threads.hpp"
#include "base/result.hpp"
#include "storage/manifest.hpp"
#include "storage/storage_context.hpp"
#include "storage/workloads/stepfile/log_index.hpp"
#include "storage/workloads/stepfile/stepfile.hpp"

namespace ullage {

// Which of a case's targets holds which state of a rank.

/// A state goes to the first target that has room for it: as many states as the limits of the run allow, or until the
/// target is full. With a single target everything is there, and nobody counts. Several threads may ask for room and
/// enter places at once, each its own places.
class StepTiers final {
 public:
  /// `states`: that this rank keeps, each of `state_bytes`.
  StepTiers(const StorageContext& first, std::uint64_t states, std::uint64_t state_bytes);

  [[nodiscard]] std::size_t size() const noexcept { return tiers_.size(); }
  [[nodiscard]] const StorageContext& at(std::size_t tier) const { return *tiers_[tier].context; }
  /// Returns where a place is; of one that nobody has entered, the first target.
  [[nodiscard]] const StorageContext& of(std::uint64_t place) const { return at(tier_of(place)); }
  [[nodiscard]] std::size_t tier_of(std::uint64_t place) const { return tiers_.size() == 1 ? 0 : places_[place]; }

  /// An error where all targets together have no room for the states of this rank.
  [[nodiscard]] Status check_room() const;
  /// The target for one more state.
  [[nodiscard]] Result<std::size_t> take();
  /// Nothing more goes there; what was taken for the state that found no room is given back.
  void filled(std::size_t tier);
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
[[nodiscard]] bool found_no_room(const Error& error) noexcept;

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
  void name_ahead(std::span<const std::uint64_t> places);
  [[nodiscard]] Result<StepTimes> write(const Write& write, HelperClock& clock);
  [[nodiscard]] Result<StepTimes> read(std::uint64_t place, std::span<std::byte> data, bool removes,
                                       HelperClock& clock);

  /// The log is made, or opened and its index read. Nothing without a log.
  [[nodiscard]] Status open_log(OpenMode mode);
  /// Writes the index behind the last state.
  [[nodiscard]] Status write_index();
  [[nodiscard]] Status sync_log();
  [[nodiscard]] Status close_log();

  /// Returns the bytes from one state of the log to the next.
  [[nodiscard]] static std::uint64_t log_stride(const StepfileState& state);

 private:
  struct Named {
    std::uint64_t place;
    std::string name;
  };
  [[nodiscard]] Result<std::unique_ptr<File>> open(const StorageContext& where, std::uint64_t place, OpenMode mode,
                                                   std::uint64_t bytes);
  [[nodiscard]] std::string name_of(std::uint64_t place);
  [[nodiscard]] Result<StepTimes> write_at(const StorageContext& where, const Write& write, std::int64_t begun_ns,
                                           HelperClock& clock);
  [[nodiscard]] Result<StepTimes> write_where_room_is(const Write& write, HelperClock& clock);
  [[nodiscard]] Result<StepTimes> append(const Write& write, HelperClock& clock);
  [[nodiscard]] Result<StepTimes> read_log(std::uint64_t step, std::span<std::byte> data, HelperClock& clock);
  [[nodiscard]] Status move_index(Direction direction, std::span<std::byte> place);
  [[nodiscard]] std::size_t index_bytes() const;

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
