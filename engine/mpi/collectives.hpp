// SPDX-License-Identifier: Apache-2.0
// Collective operations, each as one call of MPI that can be made again and again, blocking or not.
#pragma once

#include "base/pinned.hpp"
#include "base/std.hpp"
#include "mpi/comm.hpp"

namespace ullage::mpi {

enum class Collective {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  scatter,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter
};

/// Says what reductions add up.
enum class Element { fp32, fp64 };

[[nodiscard]] constexpr std::size_t bytes_of(Element element) noexcept { return element == Element::fp32 ? 4 : 8; }

/// `message_bytes`: of the vector in bcast and reductions, also before reduce_scatter cuts it; of what goes from one
/// rank to one other elsewhere. The v-forms move the same amounts as the others.
struct CollectiveShape {
  Collective collective = Collective::barrier;
  std::size_t message_bytes = 0;
  Element element = Element::fp32;
};

[[nodiscard]] constexpr bool reduces(Collective collective) noexcept {
  return collective == Collective::reduce || collective == Collective::allreduce ||
         collective == Collective::reduce_scatter;
}

/// Returns whether one rank gives or gets what the others get or give.
[[nodiscard]] constexpr bool has_root(Collective collective) noexcept {
  return collective == Collective::bcast || collective == Collective::reduce || collective == Collective::gather ||
         collective == Collective::scatter;
}

/// Says what a rank has to hold, the same for all ranks.
struct CollectiveRoom {
  std::size_t out = 0;
  std::size_t in = 0;
};
[[nodiscard]] CollectiveRoom room_of(const CollectiveShape& shape, int ranks);

/// A rank's elements of a reduced vector of `elements`: as equal shares as can be, the larger ones first.
struct ElementShare {
  std::size_t first = 0;
  std::size_t count = 0;
};
[[nodiscard]] ElementShare share_of(std::size_t elements, int rank, int ranks);

/// The largest number that a call of the operation has to be told: of elements or bytes between two ranks, and where
/// the blocks of all ranks lie one after the other at a rank that gathers or scatters them, the bytes of all.
/// (Libraries add them up in an int where they forward whole parts of them; in an alltoall nobody does.)
[[nodiscard]] std::uint64_t largest_count(const CollectiveShape& shape, int ranks);

/// This is the most that the int of an MPI before version 4 holds.
inline constexpr std::uint64_t most_int_count = std::numeric_limits<std::int32_t>::max();
/// Returns whether this MPI has calls with larger counts.
[[nodiscard]] bool has_large_counts();

/// as_needed: with large counts where int is too small · large: always, where the MPI has them.
enum class CallCounts { as_needed, large };

/// A bcast goes from the root's `out` to the others' `in`; the root's own `in` stays as it is.
class CollectiveCall final : Pinned {
 public:
  /// `comm`, `out`, which is only read, and `in` outlive it and have the room of room_of(). largest_count() is at most
  /// most_int_count where the MPI has no large counts.
  CollectiveCall(const Comm& comm, const CollectiveShape& shape, std::span<std::byte> out, std::span<std::byte> in,
                 CallCounts counts = CallCounts::as_needed);
  ~CollectiveCall();

  /// Collective. `root` counts where the operation has one.
  void run(int root);

  /// The nonblocking form, one at a time: start, any number of tests, wait.
  void start(int root);
  /// Lets MPI work on it. True: it is done; wait() has still to be called.
  bool test();
  void wait();

  struct Arguments;  // what MPI wants to be told; defined in collectives.cpp

 private:
  std::unique_ptr<Arguments> arguments_;
};

}  // namespace ullage::mpi
