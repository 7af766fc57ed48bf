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
  if (slots_ == nullptr) return std::nullopt;
  std::vector<std::uint64_t> before;
  before.reserve(static_cast<std::size_t>(ranks_on_node_));
  for (int i = 0; i < ranks_on_node_; ++i) before.push_back(slots_[i].beats.load(std::memory_order_relaxed));
  std::this_thread::sleep_for(pause);
  for (int i = 0; i < ranks_on_node_; ++i) {
    const std::uint64_t beats = slots_[i].beats.load(std::memory_order_relaxed);
    if (i != rank_on_node_ && beats != gone && beats == before[static_cast<std::size_t>(i)])
      return static_cast<int>(slots_[i].rank.load());
  }
  return std::nullopt;
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
