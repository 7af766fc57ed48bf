// SPDX-License-Identifier: Apache-2.0
#include "run/heartbeats.hpp"

#include <limits>
#include <thread>
#include <utility>
#include <vector>

namespace ullage {
namespace {

constexpr std::uint64_t gone = std::numeric_limits<std::uint64_t>::max();

}  // namespace

Heartbeats::Heartbeats(const mpi::World& world)
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

void Heartbeats::beat(std::uint64_t turn, bool rests) noexcept {
  if (slots_ == nullptr) return;
  Slot& own = slots_[rank_on_node_];
  own.state.store(2 * turn + (rests ? 1 : 0), std::memory_order_relaxed);
  own.beats.store(own.beats.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void Heartbeats::leave() noexcept {
  if (slots_ != nullptr) slots_[rank_on_node_].beats.store(gone, std::memory_order_relaxed);
}

std::optional<int> Heartbeats::silent_rank(std::int64_t now_ns, std::int64_t limit_ns) noexcept {
  if (slots_ == nullptr || ranks_on_node_ < 2) return std::nullopt;
  const Slot& before = slots_[(rank_on_node_ + ranks_on_node_ - 1) % ranks_on_node_];
  const std::uint64_t beats = before.beats.load(std::memory_order_relaxed);
  const bool has_changed = std::exchange(seen_beats_, beats) != beats;
  if (beats == gone || neighbour_.look(has_changed, now_ns) < limit_ns) return std::nullopt;
  return static_cast<int>(before.rank.load());
}

std::optional<int> Heartbeats::rank_without_beat(std::chrono::milliseconds pause) const {
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
      return beats == gone || beats != one.beats;
    });
  }
  return silent.empty() ? std::nullopt : std::optional(static_cast<int>(silent.front().slot->rank.load()));
}

bool Heartbeats::all_rest(std::int64_t now_ns, std::int64_t limit_ns) noexcept {
  if (slots_ == nullptr) return false;
  std::uint64_t turns = 0;
  for (int i = 0; i < ranks_on_node_; ++i) {
    const std::uint64_t state = slots_[i].state.load(std::memory_order_relaxed);
    const bool rests = (state & 1U) != 0 && slots_[i].beats.load(std::memory_order_relaxed) != gone;
    turns += rests ? state : 0;
    if (rests) continue;
    everybody_ = {};
    return false;
  }
  const bool has_changed = std::exchange(seen_turns_, turns) != turns;
  return everybody_.look(has_changed, now_ns) >= limit_ns;
}

}  // namespace ullage
