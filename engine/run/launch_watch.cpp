// SPDX-License-Identifier: Apache-2.0
#include "run/launch_watch.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <thread>

#include "base/clock.hpp"
#include "mpi/waits.hpp"
#include "probes/probe.hpp"
#include "run/session.hpp"

namespace ullage {

SignOfLife::SignOfLife(const std::string& records, bool is_given) : path_(records + ".alive") {
  if (!is_given) return;
  file_ = Descriptor(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  give();
}

SignOfLife::~SignOfLife() {
  if (file_) (void)unlink(path_.c_str());
}

void SignOfLife::give() {
  if (!file_) return;
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%020llu\n", static_cast<unsigned long long>(++signs_));
  if (pwrite(file_.get(), text.data(), static_cast<std::size_t>(length), 0) != length) return;
}

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
// A busy machine may keep any thread waiting for a second or two, which a rank that works does not notice.
constexpr std::int64_t shortest_silence_ns = 5 * second_ns;
// For ranks that have all arrived in a collective, and share few cores there.
constexpr std::int64_t shortest_rest_ns = 60 * second_ns;
// Datagrams may be lost for a while on a network that is being measured.
constexpr std::int64_t shortest_node_silence_ns = 30 * second_ns;
constexpr std::int64_t for_the_others_ns = 15 * second_ns;
constexpr std::int64_t surely_silent_ns = 4 * second_ns;  // for whoever is looked for because something hangs already
constexpr std::uint64_t ticks_per_sign = 10;
constexpr std::uint64_t ticks_per_datagram = 5;
constexpr std::int64_t unheard_ns = 10 * second_ns;
constexpr std::uint64_t looks_a_look_unheard = 10;  // a node of which nothing is heard looks once in 5 s
constexpr std::chrono::milliseconds look_for_the_silent{2000};
constexpr std::chrono::seconds longest_end{10};
constexpr std::chrono::seconds for_the_other_writer{2};

/// Ends the process also where the file system of the records hangs: then there are none of the end.
void abort_within(std::chrono::seconds patience) {
  try {
    std::thread([patience] {
      std::this_thread::sleep_for(patience);
      mpi::abort_all(exit_code::aborted);
    }).detach();
  } catch (const std::exception& error) {
    std::cerr << "ullage-engine: no thread limits the time of writing the last records: " << error.what() << '\n';
  }
}

std::string seconds_text(std::int64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g s", static_cast<double>(ns) / 1e9);
  return text.data();
}

}  // namespace

std::string no_progress(const mpi::Topology& topology, const std::string& what, std::int64_t limit_ns) {
  return "rank " + std::to_string(topology.rank) + " on " + topology.node_name + " made no progress for " +
         seconds_text(limit_ns) + " in " + what;
}

LaunchWatch::LaunchWatch(const Plan& plan, const mpi::World& world)
    : plan_(plan),
      world_(world),
      silence_ns_(std::max(shortest_silence_ns, static_cast<std::int64_t>(plan.watchdog_s * 1e9))),
      heartbeats_(world),
      ring_(world),
      stop_file_(plan.records + ".stop"),
      origin_ns_(now_ns()),
      sign_(plan.records, world.root()),
      watchdog_(options()) {}

LaunchWatch::~LaunchWatch() {
  watchdog_.end();
  heartbeats_.leave();
}

Watchdog::Options LaunchWatch::options() {
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

/// One rank of the job looks for the file, since every look is work for its file system; leaders hear of it by the
/// ring. Where no datagram gets through, the node's leader looks itself, seldom.
bool LaunchWatch::is_asked_to_stop() {
  if (!world_.topology().leader()) return false;
  if (ring_.told_to_stop()) return true;
  if (!world_.root() && (ring_.parent_silent_ns() < unheard_ns || ++unheard_looks_ % looks_a_look_unheard != 0))
    return false;
  return access(stop_file_.c_str(), F_OK) == 0;
}

/// A rank may wait for another inside what is watched, in the calls of a collective file: then that one is to blame.
Hang LaunchWatch::hang_of(const std::string& what, std::int64_t limit_ns) {
  const mpi::Topology& topology = world_.topology();
  const std::string own = no_progress(topology, what, limit_ns);
  const auto blamed = [&](int rank, const std::string& node) {
    return Hang{
        rank, node,
        "rank " + std::to_string(rank) + " on " + node + " gave no sign of life: it is stopped, or cannot run; " + own};
  };
  if (const auto silent = ring_.silent_node(now_ns(), surely_silent_ns)) return blamed(silent->rank, silent->node);
  if (const auto silent = heartbeats_.rank_without_beat(look_for_the_silent))
    return blamed(*silent, topology.node_name);
  return {topology.rank, topology.node_name, own};
}

void LaunchWatch::begins(const CurrentRepetition& current) {
  const std::scoped_lock lock(mutex_);
  current_ = current;
}

void LaunchWatch::ends(bool is_ok, bool was_cut) {
  const std::scoped_lock lock(mutex_);
  if (!was_cut) tally_.count(current_.case_id, is_ok);
  current_ = {};
}

CaseCounts LaunchWatch::tally() const {
  const std::scoped_lock lock(mutex_);
  return tally_;
}

std::int64_t LaunchWatch::elapsed_ns() const noexcept { return now_ns() - origin_ns_.load(std::memory_order_relaxed); }

void LaunchWatch::tick() {
  const std::uint64_t waits = mpi::Waiting::steps();  // odd within one
  heartbeats_.beat(watchdog_.turn() + waits, waits % 2 != 0);
  if (ticks_ % ticks_per_datagram == 0 || ring_.stops()) ring_.send();
  look_at_neighbours(now_ns());
  if (ticks_ % ticks_per_sign == 0) sign_.give();
  ++ticks_;
}

void LaunchWatch::look_at_neighbours(std::int64_t now) {
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
std::int64_t LaunchWatch::longest_node_silence_ns() const noexcept {
  const std::int64_t usual = std::max(shortest_node_silence_ns, silence_ns_);
  return ring_.parent_silent_ns() < unheard_ns ? usual : usual + for_the_others_ns;
}

void LaunchWatch::die(const Hang& hang) {
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

}  // namespace ullage
