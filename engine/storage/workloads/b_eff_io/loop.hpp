// SPDX-License-Identifier: Apache-2.0
// The loop of one pattern on one rank: calls, what is timed around them, and what ends it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/meter.hpp"
#include "base/payload.hpp"
#include "mpi/comm.hpp"
#include "storage/viewed_file.hpp"
#include "storage/workloads/b_eff_io/buffers.hpp"
#include "storage/workloads/b_eff_io/patterns.hpp"
#include "work/phase_work.hpp"

namespace ullage {

/// Why a pattern ended: it is done once only, its time was over, its part of the dataset was full, all repetitions were
/// done, it took much longer than scheduled, or a request or an error ended it.
enum class BEffIoEnd { none, once, scheduled, space, count, overtime, stopped };
[[nodiscard]] std::string word_of(BEffIoEnd end);

/// Says what a pattern took one rank, in ns. Filling buffers, tags and checks are apart, in `payload`; nothing of them
/// is in what the pattern is accounted.
struct BEffIoTimes {
  std::int64_t calls = 0;
  std::int64_t barrier = 0;
  std::int64_t agree = 0;
  std::int64_t sync = 0;
  std::int64_t open = 0;
  std::int64_t view = 0;
  std::int64_t close = 0;
  std::int64_t last_call = 0;
  std::int64_t last_barrier = 0;
  std::int64_t payload = 0;

  [[nodiscard]] std::int64_t accounted() const { return calls + barrier + agree + sync; }
  [[nodiscard]] Gauges gauges() const;
};

/// Counts what was read and looked at.
struct BEffIoFound {
  std::uint64_t verified_bytes = 0;
  std::uint64_t bad_blocks = 0;
  std::optional<Mismatch> first;  // its offset counts from the first byte of
  std::uint64_t first_call = 0;
};

struct BEffIoLoopWork {
  ViewedFile* file = nullptr;
  Direction direction = Direction::write;
  Pointer pointer = Pointer::together;
  bool verify = false;  // what is read
  const mpi::Comm* everyone = nullptr;
  BEffIoBuffers* buffers = nullptr;
};

/// When a pattern ends that time decides about.
struct BEffIoUntil {
  BEffIoRule rule = BEffIoRule::predicted;
  double scheduled_s = 0;
  std::uint64_t most = 1;  // repetitions
};

/// Used once. All ranks run the same function of it, also a rank whose call fails: it goes along with the others, and
/// says so in status().
class BEffIoLoop final {
 public:
  BEffIoLoop(const BEffIoLoopWork& work, Meter& meter, BEffIoTimes& times);

  /// After each call all ranks meet, and rank 0 decides.
  void run(const BEffIoUntil& until);
  /// `count` calls. Where they are those of all ranks together, the ranks look from time to time whether `allowance_s`
  /// is over; else each does for itself. At the end, and not timed, the ranks wait for each other.
  void run(std::uint64_t count, double allowance_s);

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] BEffIoEnd end() const { return end_; }
  [[nodiscard]] const BEffIoFound& found() const { return found_; }

 private:
  [[nodiscard]] bool together() const { return work_.pointer != Pointer::individual; }
  void call();
  void check();
  [[nodiscard]] BEffIoEnd decide(const BEffIoUntil& until, std::uint64_t repetitions) const;
  [[nodiscard]] std::uint64_t look(const BEffIoCheckTimes& looks, std::uint64_t repetitions);
  void end_alone(std::int64_t allowance_ns);
  void meet();
  [[nodiscard]] double elapsed_s() const { return static_cast<double>(times_.accounted()) * 1e-9; }

  BEffIoLoopWork work_;
  Meter& meter_;
  BEffIoTimes& times_;
  bool decides_;
  std::int64_t accounted_until_;  // from here to the next call is payload
  Status status_;
  std::uint64_t done_ = 0;
  BEffIoEnd end_ = BEffIoEnd::none;
  BEffIoFound found_;
};

}  // namespace ullage
