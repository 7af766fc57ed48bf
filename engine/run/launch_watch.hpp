// SPDX-License-Identifier: Apache-2.0
// Watches a launch from its first file to its last: each rank its own work, the ranks of a node one another, the nodes
// too, and rank 0 gives whoever started the launch a sign of life. Whoever first finds something hanging writes the end
// of the records, then all ranks are ended.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <mutex>
#include <thread>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/pinned.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/waits.hpp"
#include "probes/probe.hpp"
#include "run/heartbeats.hpp"
#include "run/launch_records.hpp"
#include "run/node_ring.hpp"
#include "run/plan.hpp"
#include "run/session.hpp"
#include "run/watchdog.hpp"

namespace ullage {

// The sign of life that rank 0 gives to whoever has started the launch: two numbers in a file beside the records, of
// which the second changes while data is removed.

class SignOfLife final : Pinned {
 public:
  /// `is_given`: on one rank of the launch. It gives the first sign at once, before any record can be written: a launch
  /// that is stopped later is missed then, however early. Where there is no room for the file, nobody is told.
  SignOfLife(const std::string& records, bool is_given) : path_(records + ".alive") {
    if (!is_given) return;
    file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    give();
  }

  /// Removes the file.
  ~SignOfLife() {
    if (file_) (void)unlink(path_.c_str());
  }

  /// Only one thread may call it.
  void give(std::uint64_t removal_looks = 0) {
    if (!file_) return;
    std::array<char, 64> text{};
    const int length =
        std::snprintf(text.data(), text.size(), "%020llu %020llu\n", static_cast<unsigned long long>(++signs_),
                      static_cast<unsigned long long>(removal_looks));
    if (pwrite(file_.get(), text.data(), static_cast<std::size_t>(length), 0) != length) return;
  }

 private:
  const std::string path_;
  Descriptor file_;
  std::uint64_t signs_ = 0;
};

inline std::string seconds_text(std::int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g s", static_cast<double>(ns) / 1e9);
  return text.data();
}

/// What is said of a rank that hangs.
[[nodiscard]] inline std::string no_progress(const mpi::Topology& topology, const std::string& what,
                                             std::int64_t limit_ns) {
  return "rank " + std::to_string(topology.rank) + " on " + topology.node_name + " made no progress for " +
         seconds_text(limit_ns) + " in " + what;
}

inline constexpr std::int64_t watch_second_ns = 1'000'000'000;

// A busy machine may keep any thread waiting for a second or two, which a rank that works does not notice.
inline constexpr std::int64_t shortest_silence_ns = 5 * watch_second_ns;

// For ranks that have all arrived in a collective, and share few cores there.
inline constexpr std::int64_t shortest_rest_ns = 60 * watch_second_ns;

// Datagrams may be lost for a while on a network that is being measured.
inline constexpr std::int64_t shortest_node_silence_ns = 30 * watch_second_ns;
inline constexpr std::int64_t for_the_others_ns = 15 * watch_second_ns;
inline constexpr std::int64_t surely_silent_ns =
    4 * watch_second_ns;  // for whoever is looked for because something hangs already
inline constexpr std::uint64_t ticks_per_sign = 10;
inline constexpr std::uint64_t ticks_per_datagram = 5;
inline constexpr std::int64_t unheard_ns = 10 * watch_second_ns;
inline constexpr std::uint64_t looks_a_look_unheard = 10;  // a node of which nothing is heard looks once in 5 s
inline constexpr std::chrono::milliseconds look_for_the_silent{2000};
inline constexpr std::chrono::seconds longest_end{10};
inline constexpr std::chrono::seconds for_the_other_writer{2};

/// Ends the process also where the file system of the records hangs: then there are none of the end.
inline void abort_within(std::chrono::seconds patience) {
  try {
    std::thread([patience] {
      std::this_thread::sleep_for(patience);
      mpi::abort_all(exit_code::aborted);
    }).detach();
  } catch (const std::exception& error) {
    std::cerr << "ullage-engine: no thread limits the time of writing the last records: " << error.what() << '\n';
  }
}

class LaunchWatch final : Pinned {
 public:
  /// Collective. The plan and the world outlive it.
  LaunchWatch(const Plan& plan, const mpi::World& world)
      : plan_(plan),
        world_(world),
        silence_ns_(std::max(shortest_silence_ns, static_cast<std::int64_t>(plan.watchdog_s * 1e9))),
        heartbeats_(world),
        ring_(world),
        stop_file_(plan.records + ".stop"),
        origin_ns_(now_ns()),
        sign_(plan.records, world.root()),
        watchdog_(options()) {}

  ~LaunchWatch() {
    watchdog_.end();
    heartbeats_.leave();
  }

  [[nodiscard]] Watchdog& watchdog() noexcept { return watchdog_; }
  /// False: ranks of this node are not watched by one another, since they cannot share memory.

  void begins(const CurrentRepetition& current) {
    const std::scoped_lock lock(mutex_);
    current_ = current;
  }

  /// Counts the repetition that was begun last. `was_cut`: it counts neither way.
  void ends(bool is_ok, bool was_cut) {
    const std::scoped_lock lock(mutex_);
    if (!was_cut) tally_.count(current_.case_id, is_ok);
    current_ = {};
  }

  [[nodiscard]] CaseCounts tally() const {
    const std::scoped_lock lock(mutex_);
    return tally_;
  }

  /// This rank's clock when the launch's was at 0.
  void set_origin(std::int64_t local_ns) noexcept { origin_ns_.store(local_ns, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t elapsed_ns() const noexcept {
    return now_ns() - origin_ns_.load(std::memory_order_relaxed);
  }

 private:
  [[nodiscard]] Watchdog::Options options() {
    Watchdog::Options options;
    options.limit_ns = static_cast<std::int64_t>(plan_.watchdog_s * 1e9);
    options.longest_computing_ns = filling_limit_ns(options.limit_ns, physical_memory_bytes());
    options.on_hang = [this](const std::string& what, std::int64_t limit_ns) { die(hang_of(what, limit_ns)); };
    options.on_tick = [this] { tick(); };
    options.asked_to_stop = [this] { return is_asked_to_stop(); };
    options.on_stop = [this, stop = stop_node(world_)] {
      ring_.pass_stop();
      stop();
    };
    options.cpus = cpus_of_no_rank(world_);
    return options;
  }

  // These are called by the watchdog's thread.
  /// One rank of the job looks for the file, since every look is work for its file system; leaders hear of it by the
  /// ring. Where no datagram gets through, the node's leader looks itself, seldom.
  [[nodiscard]] bool is_asked_to_stop() {
    if (!world_.topology().leader()) return false;
    if (ring_.told_to_stop()) return true;
    if (!world_.root() && (ring_.parent_silent_ns() < unheard_ns || ++unheard_looks_ % looks_a_look_unheard != 0))
      return false;
    return access(stop_file_.c_str(), F_OK) == 0;
  }

  void tick() {
    const std::uint64_t waits = mpi::Waiting::steps();  // odd within one
    heartbeats_.beat(watchdog_.turn() + waits, waits % 2 != 0);
    if (ticks_ % ticks_per_datagram == 0 || ring_.stops()) ring_.send();
    look_at_neighbours(now_ns());
    if (ticks_ % ticks_per_sign == 0) sign_.give(watchdog_.removal_looks());
    ++ticks_;
  }

  void look_at_neighbours(std::int64_t now) {
    const mpi::Topology& topology = world_.topology();
    if (const auto silent = heartbeats_.silent_rank(now, silence_ns_))
      die({*silent, topology.node_name,
           "rank " + std::to_string(*silent) + " on " + topology.node_name + " gave no sign of life for " +
               seconds_text(silence_ns_) + ": it is stopped, or cannot run"});
    const std::int64_t node_ns = longest_node_silence_ns();
    if (const auto silent = ring_.silent_node(now, node_ns))
      die({silent->rank, silent->node,
           "node " + silent->node + " (rank " + std::to_string(silent->rank) + ") gave no sign of life for " +
               seconds_text(node_ns) + ": it hangs, or cannot be reached"});
    const std::int64_t rest_ns = std::max(shortest_rest_ns, silence_ns_);
    if (world_.root() && topology.nodes == 1 && heartbeats_.all_rest(now, rest_ns))
      die({topology.rank, topology.node_name, "all ranks waited for each other for " + seconds_text(rest_ns)});
  }

  /// A node that hears neither its neighbour nor the node above it may be cut off itself, and would blame one that is
  /// well. So it lets the others speak first.
  [[nodiscard]] std::int64_t longest_node_silence_ns() const noexcept {
    const std::int64_t usual = std::max(shortest_node_silence_ns, silence_ns_);
    return ring_.parent_silent_ns() < unheard_ns ? usual : usual + for_the_others_ns;
  }

  /// A rank may wait for another inside what is watched, in the calls of a collective file: then that one is to blame.
  [[nodiscard]] Hang hang_of(const std::string& what, std::int64_t limit_ns) {
    const mpi::Topology& topology = world_.topology();
    const std::string own = no_progress(topology, what, limit_ns);
    const auto blamed = [&](int rank, const std::string& node) {
      return Hang{rank, node,
                  "rank " + std::to_string(rank) + " on " + node +
                      " gave no sign of life: it is stopped, or cannot run; " + own};
    };
    if (const auto silent = ring_.silent_node(now_ns(), surely_silent_ns)) return blamed(silent->rank, silent->node);
    if (const auto silent = heartbeats_.rank_without_beat(look_for_the_silent))
      return blamed(*silent, topology.node_name);
    return {topology.rank, topology.node_name, own};
  }

  [[noreturn]] void die(const Hang& hang) {
    abort_within(longest_end);
    CurrentRepetition current;
    CaseCounts tally;
    {
      const std::scoped_lock lock(mutex_);
      current = current_;
      tally = tally_;
    }
    // Whoever aborts ends the one that writes, too.
    if (!write_timeout_records(plan_, current, std::move(tally), hang, elapsed_ns()))
      std::this_thread::sleep_for(for_the_other_writer);
    mpi::abort_all(exit_code::aborted);
  }

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
