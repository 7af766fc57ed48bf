// SPDX-License-Identifier: Apache-2.0
#include "message/congestion/work.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/permutation.hpp"
#include "message/patterns/rank_order.hpp"

namespace ullage {
namespace {

constexpr int fewest_of_a_kind = 2;

}  // namespace

int count_of_victims(int ranks, double share) {
  const int wanted = static_cast<int>(std::lround(share * ranks));
  return std::clamp(wanted, fewest_of_a_kind, ranks - fewest_of_a_kind);
}

std::vector<int> choose_victims(int ranks, int count, std::uint64_t seed) {
  std::vector<int> victims = random_order(RandomOrder::uniform, ranks, seed, 0);
  victims.resize(static_cast<std::size_t>(count));
  std::ranges::sort(victims);
  return victims;
}

std::vector<int> ring_order(int count, std::uint64_t seed, std::uint64_t ring) {
  return random_order(RandomOrder::uniform, count, seed, ring + 1);
}

namespace {

constexpr std::size_t place_bytes = 8;  // of RotatingBuffer
/// Messages of a run and of the one before do not share their places.
constexpr std::size_t runs_kept = 2;

std::size_t rotating_room(const RingWork::Shape& shape) {
  return runs_kept * shape.outstanding * ((shape.message_bytes + place_bytes - 1) / place_bytes * place_bytes);
}

/// All messages of a rank are this word, again and again.
std::uint64_t word_of(int rank, std::uint64_t key) { return mix64(key ^ static_cast<std::uint64_t>(rank)); }

void fill_with(std::span<std::byte> bytes, std::uint64_t word) {
  for (std::size_t place = 0; place + sizeof(word) <= bytes.size(); place += sizeof(word))
    std::memcpy(bytes.data() + place, &word, sizeof(word));
}

bool is_filled_with(std::span<const std::byte> bytes, std::uint64_t word) {
  for (std::size_t place = 0; place < bytes.size(); place += sizeof(word))
    if (std::memcmp(bytes.data() + place, &word, std::min(sizeof(word), bytes.size() - place)) != 0) return false;
  return true;
}

std::vector<mpi::MessageStep> steps_in_ring(const std::vector<int>& order, int rank, std::size_t outstanding) {
  const std::size_t count = order.size();
  const auto place = static_cast<std::size_t>(std::ranges::find(order, rank) - order.begin());
  const int next = order[(place + 1) % count];
  const int previous = order[(place + count - 1) % count];
  std::vector<mpi::MessageStep> steps;
  steps.reserve(outstanding);
  for (std::size_t i = 0; i < outstanding; ++i) steps.push_back({next, previous, static_cast<int>(i)});
  return steps;
}

}  // namespace

RingWork::RingWork(const mpi::Comm& comm, const Shape& shape, std::uint64_t key)
    : key_(key), out_(rotating_room(shape)), in_(out_.size()), sends_(out_), receives_(in_) {
  const int rank = comm.rank();
  fill_with(out_, word_of(rank, key));
  const auto method = shape.outstanding == 1 ? mpi::MessageMethod::sendrecv : mpi::MessageMethod::nonblocking;
  for (std::uint64_t ring = 0; ring < shape.rings; ++ring)
    loops_.push_back(std::make_unique<mpi::MessageLoop>(
        comm, steps_in_ring(ring_order(comm.size(), shape.seed, ring), rank, shape.outstanding), method,
        shape.message_bytes, sends_, receives_));
}

bool RingWork::is_right(std::uint64_t ring) const {
  return std::ranges::all_of(loops_[ring]->last_received(), [this](const mpi::MessageLoop::Received& message) {
    return !message.data.empty() && is_filled_with(message.data, word_of(message.from, key_));
  });
}

AllreduceWork::AllreduceWork(const mpi::Comm& comm, std::size_t message_bytes, std::uint64_t key)
    : shape_{mpi::Collective::allreduce, message_bytes, mpi::Element::fp64},
      content_(shape_, comm.rank(), comm.size(), key),
      out_(message_bytes),
      in_(message_bytes),
      call_(comm, shape_, out_, in_) {
  content_.fill(out_);
  CollectiveContent::poison(in_);
}

}  // namespace ullage
