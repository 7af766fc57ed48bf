// SPDX-License-Identifier: Apache-2.0
#include "run/heartbeats.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/stable_hash.hpp"
#include "mpi/agreement.hpp"
#include "storage/descriptor.hpp"
#include "storage/manifest.hpp"

namespace ullage {
namespace {

constexpr const char* memory_name = "ullage-heartbeats";
constexpr std::uint64_t gone = std::numeric_limits<std::uint64_t>::max();

/// Says where the leader's memory is found, and what stands in front of it: process ids of another container may be
/// anyone's.
struct Where {
  std::int64_t pid = -1;
  std::int64_t descriptor = -1;
  std::uint64_t key = 0;
};

bool is_ours(const std::string& path) {
  std::array<char, 256> name{};
  const ssize_t length = readlink(path.c_str(), name.data(), name.size() - 1);
  return length > 0 && std::string_view(name.data()).find(memory_name) != std::string_view::npos;
}

Descriptor open_memory(const Where& where) {
  const std::string path = "/proc/" + std::to_string(where.pid) + "/fd/" + std::to_string(where.descriptor);
  return where.descriptor >= 0 && is_ours(path) ? Descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC)) : Descriptor();
}

void* map(const Descriptor& memory, std::size_t bytes) {
  if (!memory) return nullptr;
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

Heartbeats::Heartbeats(const mpi::World& world)
    : rank_on_node_(world.topology().rank_on_node),
      ranks_on_node_(world.topology().ranks_on_node),
      bytes_((static_cast<std::size_t>(ranks_on_node_) + 1) * sizeof(Slot)) {
  const mpi::Comm& node = world.node();
  Where where;
  Descriptor memory;
  void* mapped = nullptr;
  if (world.topology().leader()) {
    memory = Descriptor(memfd_create(memory_name, MFD_CLOEXEC));
    if (memory && ftruncate(memory.get(), static_cast<off_t>(bytes_)) == 0) mapped = map(memory, bytes_);
    where = {getpid(), memory.get(), static_cast<std::uint64_t>(stable_hash(new_nonce()))};
    if (mapped != nullptr) std::memcpy(mapped, &where.key, sizeof(where.key));
  }
  node.broadcast(std::as_writable_bytes(std::span(&where, 1)), 0);
  if (!world.topology().leader()) mapped = map(open_memory(where), bytes_);
  const bool right = mapped != nullptr && std::memcmp(mapped, &where.key, sizeof(where.key)) == 0;
  if (!node.all(right)) {  // the leader's descriptor is closed behind this
    if (mapped != nullptr) munmap(mapped, bytes_);
    return;
  }
  slots_ = static_cast<Slot*>(mapped) + 1;  // zero bytes are atomics of value 0
  slots_[rank_on_node_].rank.store(world.rank());
  node.barrier();
}

Heartbeats::~Heartbeats() {
  if (slots_ != nullptr) munmap(slots_ - 1, bytes_);
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
