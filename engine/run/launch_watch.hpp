// SPDX-License-Identifier: Apache-2.0
// Watches a launch from its first file to its last: each rank its own work, the ranks of a node one another, the nodes
// too, and rank 0 gives whoever started the launch a sign of life. Whoever first finds something hanging writes the end
// of the records, then all ranks are ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "base/descriptor.hpp"
#include "mpi/comm.hpp"
#include "run/heartbeats.hpp"
#include "run/launch_records.hpp"
#include "run/node_ring.hpp"
#include "run/plan.hpp"
#include "run/watchdog.hpp"

namespace ullage {

// The sign of life that rank 0 gives to whoever has started the launch: a number in a file beside the records.

class SignOfLife final {
 public:
  /// `is_given`: on one rank of the launch. It gives the first sign at once, before any record can be written: a launch
  /// that is stopped later is missed then, however early. Where there is no room for the file, nobody is told.
  SignOfLife(const std::string& records, bool is_given);
  /// Removes the file.
  ~SignOfLife();
  SignOfLife(const SignOfLife&) = delete;
  SignOfLife& operator=(const SignOfLife&) = delete;

  /// Only one thread may call it.
  void give();

 private:
  const std::string path_;
  Descriptor file_;
  std::uint64_t signs_ = 0;
};

/// What is said of a rank that hangs.
[[nodiscard]] std::string no_progress(const mpi::Topology& topology, const std::string& what, std::int64_t limit_ns);

class LaunchWatch final {
 public:
  /// Collective. The plan and the world outlive it.
  LaunchWatch(const Plan& plan, const mpi::World& world);
  ~LaunchWatch();
  LaunchWatch(const LaunchWatch&) = delete;
  LaunchWatch& operator=(const LaunchWatch&) = delete;

  [[nodiscard]] Watchdog& watchdog() noexcept { return watchdog_; }
  /// False: ranks of this node are not watched by one another, since they cannot share memory.
  [[nodiscard]] bool watches_ranks() const noexcept { return heartbeats_.shared(); }

  void begins(const CurrentRepetition& current);
  /// Counts the repetition that was begun last. `was_cut`: it counts neither way.
  void ends(bool is_ok, bool was_cut);
  [[nodiscard]] CaseCounts tally() const;
  /// This rank's clock when the launch's was at 0.
  void set_origin(std::int64_t local_ns) noexcept { origin_ns_.store(local_ns, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t elapsed_ns() const noexcept;

 private:
  [[nodiscard]] Watchdog::Options options();
  // These are called by the watchdog's thread.
  [[nodiscard]] bool is_asked_to_stop();
  void tick();
  void look_at_neighbours(std::int64_t now);
  [[nodiscard]] std::int64_t longest_node_silence_ns() const noexcept;
  [[nodiscard]] Hang hang_of(const std::string& what, std::int64_t limit_ns);
  [[noreturn]] void die(const Hang& hang);

  const Plan& plan_;
  const mpi::World& world_;
  const std::int64_t silence_ns_;
  Heartbeats heartbeats_;
  NodeRing ring_;
  const std::string stop_file_;
  std::atomic<std::int64_t> origin_ns_;

  mutable std::mutex mutex_;  // guards the two below, which the caller's thread writes
  CurrentRepetition current_;
  CaseCounts tally_;

  // The watchdog's thread's own.
  SignOfLife sign_;
  std::uint64_t ticks_ = 0;
  std::uint64_t unheard_looks_ = 0;
  Watchdog watchdog_;  // last: its thread uses the others
};

}  // namespace ullage
