// SPDX-License-Identifier: Apache-2.0
// Signs of life of the ranks of a node, in memory that they share: a rank that is stopped whole can say nothing itself,
// and those that wait for it in MPI have no thread that may ask.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "mpi/comm.hpp"
#include "storage/node_file.hpp"

namespace ullage {

/// Knows for how long nothing has changed, by looks at it. A look counts half a second at most: where the machine stood
/// still as a whole, whoever looks did not look either.
class StallTimer final {
 public:
  std::int64_t look(bool has_changed, std::int64_t now_ns) noexcept {
    constexpr std::int64_t longest_look_ns = 500'000'000;
    lasted_ns_ = has_changed || looked_ns_ == 0 ? 0 : lasted_ns_ + std::min(now_ns - looked_ns_, longest_look_ns);
    looked_ns_ = now_ns;
    return lasted_ns_;
  }

 private:
  std::int64_t looked_ns_ = 0;
  std::int64_t lasted_ns_ = 0;
};

class Heartbeats final {
 public:
  /// Collective over the node's ranks. Where they cannot share memory nobody is watched: see shared().
  explicit Heartbeats(const mpi::World& world);
  ~Heartbeats() = default;
  Heartbeats(const Heartbeats&) = delete;
  Heartbeats& operator=(const Heartbeats&) = delete;
  [[nodiscard]] bool shared() const noexcept { return slots_ != nullptr; }

  // What follows is called by one thread, but for leave().

  /// This rank lives. `turn` changes with what it works on; `rests`: it waits for others.
  void beat(std::uint64_t turn, bool rests) noexcept;
  /// This rank needs no watch any more.
  void leave() noexcept;

  /// The rank (of all) before this one on the node when it gave no sign for `limit_ns` of the time in which this rank
  /// itself was running: a machine that stands still as a whole is no silence.
  [[nodiscard]] std::optional<int> silent_rank(std::int64_t now_ns, std::int64_t limit_ns) noexcept;
  /// The rank of the node that has not beaten for `pause`, in which this rank sleeps; of several the one that does not
  /// beat in further pauses either, or the lowest of those.
  [[nodiscard]] std::optional<int> rank_without_beat(std::chrono::milliseconds pause) const;
  /// Every rank of the node has rested for `limit_ns`, likewise: they wait for each other.
  [[nodiscard]] bool all_rest(std::int64_t now_ns, std::int64_t limit_ns) noexcept;

 private:
  struct alignas(64) Slot {
    std::atomic<std::uint64_t> beats;
    std::atomic<std::uint64_t> state;  // twice the turn, and 1 while it rests
    std::atomic<std::int64_t> rank;
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  int rank_on_node_;
  int ranks_on_node_;
  SharedMemory memory_;
  Slot* slots_ = nullptr;
  StallTimer neighbour_;
  std::uint64_t seen_beats_ = 0;
  StallTimer everybody_;
  std::uint64_t seen_turns_ = 0;
};

}  // namespace ullage
