// SPDX-License-Identifier: Apache-2.0
// Who is disturbed, and the victims' tests: messages in random rings, and a small allreduce.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "message/collective_content.hpp"
#include "mpi/collectives.hpp"
#include "mpi/messages.hpp"

namespace ullage {

// Which ranks are disturbed and which disturb, and in which order those that are disturbed stand in a ring. Pure.

/// `share` of the ranks, rounded, at least 2, and so that at least 2 others are left. 4 ranks or more.
[[nodiscard]] int count_of_victims(int ranks, double share);

/// `count` of `ranks` ranks, rising; each choice is as likely as any other.
[[nodiscard]] std::vector<int> choose_victims(int ranks, int count, std::uint64_t seed);

/// The numbers below `count` in an order that is as likely as any other, for ring number `ring`.
[[nodiscard]] std::vector<int> ring_order(int count, std::uint64_t seed, std::uint64_t ring);

/// Is done again and again, in one of several orders of the ranks. Collective over them; each makes its part alone.
class CongestionWork {
 public:
  CongestionWork() = default;
  CongestionWork(const CongestionWork&) = delete;
  CongestionWork& operator=(const CongestionWork&) = delete;
  virtual ~CongestionWork() = default;
  virtual void run(std::uint64_t ring) = 0;
  /// Returns whether the last run, which was of this ring, brought what it had to.
  [[nodiscard]] virtual bool is_right(std::uint64_t ring) const = 0;
};

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
  RingWork(const mpi::Comm& comm, const Shape& shape, std::uint64_t key);
  void run(std::uint64_t ring) override { loops_[ring]->run(1); }
  [[nodiscard]] bool is_right(std::uint64_t ring) const override;

 private:
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
  AllreduceWork(const mpi::Comm& comm, std::size_t message_bytes, std::uint64_t key);
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
