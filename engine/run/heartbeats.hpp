// SPDX-License-Identifier: Apache-2.0
// Signs of life of the ranks of a node, in memory that they share: a rank that is stopped whole can say nothing itself,
// and those that wait for it in MPI have no thread that may ask.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"
#include "mpi/node_file.hpp"

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

inline constexpr std::uint64_t beats_of_the_gone = std::numeric_limits<std::uint64_t>::max();

class Heartbeats final : Pinned {
 public:
  /// Collective over the node's ranks. Where they cannot share memory nobody is watched: see shared().
  explicit Heartbeats(const mpi::World& world)
      : rank_on_node_(world.topology().rank_on_node), ranks_on_node_(world.topology().ranks_on_node) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(ranks_on_node_) * sizeof(Slot);
    const auto file = share_node_file(world.node(), "ullage-heartbeats", bytes);
    if (!file) return;
    auto mapped = SharedMemory::map(*file, 0, bytes);
    if (!world.node().all(mapped.has_value())) return;
    memory_ = std::move(*mapped);
    slots_ = reinterpret_cast<Slot*>(memory_.bytes().data());  // zero bytes are atomics of value 0
    slots_[rank_on_node_].rank.store(world.rank());
    world.node().barrier();
  }

  ~Heartbeats() = default;
  [[nodiscard]] bool shared() const noexcept { return slots_ != nullptr; }

  // What follows is called by one thread, but for leave().

  /// This rank lives. `turn` changes with what it works on; `rests`: it waits for others.
  void beat(std::uint64_t turn, bool rests) noexcept {
    if (slots_ == nullptr) return;
    Slot& own = slots_[rank_on_node_];
    own.state.store(2 * turn + (rests ? 1 : 0), std::memory_order_relaxed);
    own.beats.store(own.beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// This rank needs no watch any more.
  void leave() noexcept {
    if (slots_ != nullptr) slots_[rank_on_node_].beats.store(beats_of_the_gone, std::memory_order_relaxed);
  }

  /// The rank (of all) before this one on the node when it gave no sign for `limit_ns` of the time in which this rank
  /// itself was running: a machine that stands still as a whole is no silence.
  [[nodiscard]] std::optional<int> silent_rank(std::int64_t now_ns, std::int64_t limit_ns) noexcept {
    if (slots_ == nullptr || ranks_on_node_ < 2) return std::nullopt;
    const Slot& before = slots_[(rank_on_node_ + ranks_on_node_ - 1) % ranks_on_node_];
    const std::uint64_t beats = before.beats.load(std::memory_order_relaxed);
    const bool has_changed = std::exchange(seen_beats_, beats) != beats;
    if (beats == beats_of_the_gone || neighbour_.look(has_changed, now_ns) < limit_ns) return std::nullopt;
    return static_cast<int>(before.rank.load());
  }

  /// The rank of the node that has not beaten for `pause`, in which this rank sleeps; of several the one that does not
  /// beat in further pauses either, or the lowest of those.
  [[nodiscard]] std::optional<int> rank_without_beat(std::chrono::milliseconds pause) const {
    constexpr int most_pauses = 5;
    if (slots_ == nullptr) return std::nullopt;
    struct Silent {
      const Slot* slot;
      std::uint64_t beats;
    };
    std::vector<Silent> silent;
    for (int i = 0; i < ranks_on_node_; ++i)
      if (i != rank_on_node_) silent.push_back({&slots_[i], slots_[i].beats.load(std::memory_order_relaxed)});
    // On a busy machine a rank that lives may not come to beat in one pause.
    for (int pauses = 0; pauses == 0 || (pauses < most_pauses && silent.size() > 1); ++pauses) {
      std::this_thread::sleep_for(pause);
      std::erase_if(silent, [](const Silent& one) {
        const std::uint64_t beats = one.slot->beats.load(std::memory_order_relaxed);
        return beats == beats_of_the_gone || beats != one.beats;
      });
    }
    return silent.empty() ? std::nullopt : std::optional(static_cast<int>(silent.front().slot->rank.load()));
  }

  /// Every rank of the node has rested for `limit_ns`, likewise: they wait for each other.
  [[nodiscard]] bool all_rest(std::int64_t now_ns, std::int64_t limit_ns) noexcept {
    if (slots_ == nullptr) return false;
    std::uint64_t turns = 0;
    for (int i = 0; i < ranks_on_node_; ++i) {
      const std::uint64_t state = slots_[i].state.load(std::memory_order_relaxed);
      const bool rests = (state & 1U) != 0 && slots_[i].beats.load(std::memory_order_relaxed) != beats_of_the_gone;
      turns += rests ? state : 0;
      if (rests) continue;
      everybody_ = {};
      return false;
    }
    const bool has_changed = std::exchange(seen_turns_, turns) != turns;
    return everybody_.look(has_changed, now_ns) >= limit_ns;
  }

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
