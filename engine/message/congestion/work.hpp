// SPDX-License-Identifier: Apache-2.0
// Who is disturbed, and the victims' tests: messages in random rings, and a small allreduce.
#pragma once

#include <cmath>
#include <cstring>

#include "base/permutation.hpp"
#include "base/pinned.hpp"
#include "base/std.hpp"
#include "message/collective_content.hpp"
#include "message/patterns/rank_order.hpp"
#include "mpi/collectives.hpp"
#include "mpi/messages.hpp"

namespace ullage {

// Which ranks are disturbed and which disturb, and in which order those that are disturbed stand in a ring. Pure.

inline constexpr int fewest_of_a_kind = 2;

/// `share` of the ranks, rounded, at least 2, and so that at least 2 others are left. 4 ranks or more.
[[nodiscard]] inline int count_of_victims(int ranks, double share) {
  const int wanted = static_cast<int>(std::lround(share * ranks));
  return std::clamp(wanted, fewest_of_a_kind, ranks - fewest_of_a_kind);
}

/// `count` of `ranks` ranks, rising; each choice is as likely as any other.
[[nodiscard]] inline std::vector<int> choose_victims(int ranks, int count, std::uint64_t seed) {
  std::vector<int> victims = random_order(RandomOrder::uniform, ranks, seed, 0);
  victims.resize(static_cast<std::size_t>(count));
  std::ranges::sort(victims);
  return victims;
}

/// The numbers below `count` in an order that is as likely as any other, for ring number `ring`.
[[nodiscard]] inline std::vector<int> ring_order(int count, std::uint64_t seed, std::uint64_t ring) {
  return random_order(RandomOrder::uniform, count, seed, ring + 1);
}

/// Is done again and again, in one of several orders of the ranks. Collective over them; each makes its part alone.
class CongestionWork : public Interface {
 public:
  virtual void run(std::uint64_t ring) = 0;
  /// Returns whether the last run, which was of this ring, brought what it had to.
  [[nodiscard]] virtual bool is_right(std::uint64_t ring) const = 0;
};

inline constexpr std::size_t place_bytes = 8;  // of RotatingBuffer

/// Messages of a run and of the one before do not share their places.
inline constexpr std::size_t runs_kept = 2;

/// All messages of a rank are this word, again and again.
inline std::uint64_t word_of(int rank, std::uint64_t key) { return mix64(key ^ static_cast<std::uint64_t>(rank)); }

inline void fill_with(std::span<std::byte> bytes, std::uint64_t word) {
  for (std::size_t place = 0; place + sizeof(word) <= bytes.size(); place += sizeof(word))
    std::memcpy(bytes.data() + place, &word, sizeof(word));
}

inline bool is_filled_with(std::span<const std::byte> bytes, std::uint64_t word) {
  for (std::size_t place = 0; place < bytes.size(); place += sizeof(word))
    if (std::memcmp(bytes.data() + place, &word, std::min(sizeof(word), bytes.size() - place)) != 0) return false;
  return true;
}

inline std::vector<mpi::MessageStep> steps_in_ring(const std::vector<int>& order, int rank, std::size_t outstanding) {
  const std::size_t count = order.size();
  const auto place = static_cast<std::size_t>(std::ranges::find(order, rank) - order.begin());
  const int next = order[(place + 1) % count];
  const int previous = order[(place + count - 1) % count];
  std::vector<mpi::MessageStep> steps;
  steps.reserve(outstanding);
  for (std::size_t i = 0; i < outstanding; ++i) steps.push_back({next, previous, static_cast<int>(i)});
  return steps;
}

/// Rings in `rings` random orders: each rank sends `outstanding` messages to the next one and gets as many from the one
/// before; a single one by MPI_Sendrecv, more by MPI_Irecv, MPI_Isend and MPI_Waitall.
class RingWork final : public CongestionWork {
 public:
  struct Shape {
    std::size_t message_bytes = 8;
    std::size_t outstanding = 1;
    std::uint64_t rings = 1;
    std::uint64_t seed = 1;
  };

  RingWork(const mpi::Comm& comm, const Shape& shape, std::uint64_t key)
      : key_(key), out_(rotating_room(shape)), in_(out_.size()), sends_(out_), receives_(in_) {
    const int rank = comm.rank();
    fill_with(out_, word_of(rank, key));
    const auto method = shape.outstanding == 1 ? mpi::MessageMethod::sendrecv : mpi::MessageMethod::nonblocking;
    for (std::uint64_t ring = 0; ring < shape.rings; ++ring)
      loops_.push_back(std::make_unique<mpi::MessageLoop>(
          comm, steps_in_ring(ring_order(comm.size(), shape.seed, ring), rank, shape.outstanding), method,
          shape.message_bytes, sends_, receives_));
  }

  void run(std::uint64_t ring) override { loops_[ring]->run(1); }

  [[nodiscard]] bool is_right(std::uint64_t ring) const override {
    return std::ranges::all_of(loops_[ring]->last_received(), [this](const mpi::MessageLoop::Received& message) {
      return !message.data.empty() && is_filled_with(message.data, word_of(message.from, key_));
    });
  }

 private:
  [[nodiscard]] static std::size_t rotating_room(const Shape& shape) {
    return runs_kept * shape.outstanding * ((shape.message_bytes + place_bytes - 1) / place_bytes * place_bytes);
  }

  std::uint64_t key_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  mpi::RotatingBuffer sends_;
  mpi::RotatingBuffer receives_;
  std::vector<std::unique_ptr<mpi::MessageLoop>> loops_;
};

/// A sum of so many bytes of fp64; all orders are the same.
class AllreduceWork final : public CongestionWork {
 public:
  AllreduceWork(const mpi::Comm& comm, std::size_t message_bytes, std::uint64_t key)
      : shape_{mpi::Collective::allreduce, message_bytes, mpi::Element::fp64},
        content_(shape_, comm.rank(), comm.size(), key),
        out_(message_bytes),
        in_(message_bytes),
        call_(comm, shape_, out_, in_) {
    content_.fill(out_);
    CollectiveContent::poison(in_);
  }

  void run(std::uint64_t) override { call_.run(0); }
  [[nodiscard]] bool is_right(std::uint64_t) const override { return content_.check(in_, 0).has_value(); }

 private:
  mpi::CollectiveShape shape_;
  CollectiveContent content_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  mpi::CollectiveCall call_;
};

}  // namespace ullage
