// SPDX-License-Identifier: Apache-2.0
#include "mpi/collectives.hpp"

#include <algorithm>
#include <vector>

#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {

CollectiveRoom room_of(const CollectiveShape& shape, int ranks) {
  const std::size_t one = shape.message_bytes;
  const std::size_t all = one * static_cast<std::size_t>(ranks);
  switch (shape.collective) {
    case Collective::barrier:
      return {0, 0};
    case Collective::bcast:
    case Collective::reduce:
    case Collective::allreduce:
      return {one, one};
    case Collective::gather:
    case Collective::allgather:
    case Collective::allgatherv:
      return {one, all};
    case Collective::scatter:
      return {all, one};
    case Collective::alltoall:
    case Collective::alltoallv:
      return {all, all};
    case Collective::reduce_scatter:
      break;
  }
  const std::size_t element = bytes_of(shape.element);
  return {one, share_of(one / element, 0, ranks).count * element};
}

ElementShare share_of(std::size_t elements, int rank, int ranks) {
  const auto index = static_cast<std::size_t>(rank);
  const auto count = static_cast<std::size_t>(ranks);
  const std::size_t larger = elements % count;
  return {index * (elements / count) + std::min(index, larger), elements / count + (index < larger ? 1 : 0)};
}

/// A call with a request is the nonblocking form of the same operation.
struct CollectiveCall::Arguments {
  Collective collective;
  MPI_Comm comm;
  int rank;
  int count;
  MPI_Datatype type;
  void* out;  // only read
  void* in;
  std::vector<int> counts;  // of each rank, in units of `type`
  std::vector<int> places;
  MPI_Request request = MPI_REQUEST_NULL;

  [[nodiscard]] int call(int root, MPI_Request* asked) {
    if (collective == Collective::barrier) return asked != nullptr ? MPI_Ibarrier(comm, asked) : MPI_Barrier(comm);
    if (has_root(collective)) return call_rooted(root, asked);
    return reduces(collective) ? call_reducing(asked) : call_moving(asked);
  }

 private:
  [[nodiscard]] int call_rooted(int root, MPI_Request* asked) {
    switch (collective) {
      case Collective::bcast: {
        void* const data = rank == root ? out : in;
        return asked != nullptr ? MPI_Ibcast(data, count, type, root, comm, asked)
                                : MPI_Bcast(data, count, type, root, comm);
      }
      case Collective::reduce:
        return asked != nullptr ? MPI_Ireduce(out, in, count, type, MPI_SUM, root, comm, asked)
                                : MPI_Reduce(out, in, count, type, MPI_SUM, root, comm);
      case Collective::gather:
        return asked != nullptr ? MPI_Igather(out, count, type, in, count, type, root, comm, asked)
                                : MPI_Gather(out, count, type, in, count, type, root, comm);
      default:
        return asked != nullptr ? MPI_Iscatter(out, count, type, in, count, type, root, comm, asked)
                                : MPI_Scatter(out, count, type, in, count, type, root, comm);
    }
  }

  [[nodiscard]] int call_reducing(MPI_Request* asked) {
    if (collective == Collective::allreduce)
      return asked != nullptr ? MPI_Iallreduce(out, in, count, type, MPI_SUM, comm, asked)
                              : MPI_Allreduce(out, in, count, type, MPI_SUM, comm);
    return asked != nullptr ? MPI_Ireduce_scatter(out, in, counts.data(), type, MPI_SUM, comm, asked)
                            : MPI_Reduce_scatter(out, in, counts.data(), type, MPI_SUM, comm);
  }

  [[nodiscard]] int call_moving(MPI_Request* asked) {
    const int* const n = counts.data();
    const int* const at = places.data();
    switch (collective) {
      case Collective::allgather:
        return asked != nullptr ? MPI_Iallgather(out, count, type, in, count, type, comm, asked)
                                : MPI_Allgather(out, count, type, in, count, type, comm);
      case Collective::allgatherv:
        return asked != nullptr ? MPI_Iallgatherv(out, count, type, in, n, at, type, comm, asked)
                                : MPI_Allgatherv(out, count, type, in, n, at, type, comm);
      case Collective::alltoall:
        return asked != nullptr ? MPI_Ialltoall(out, count, type, in, count, type, comm, asked)
                                : MPI_Alltoall(out, count, type, in, count, type, comm);
      default:
        return asked != nullptr ? MPI_Ialltoallv(out, n, at, type, in, n, at, type, comm, asked)
                                : MPI_Alltoallv(out, n, at, type, in, n, at, type, comm);
    }
  }
};

CollectiveCall::CollectiveCall(const Comm& comm, const CollectiveShape& shape, std::span<std::byte> out,
                               std::span<std::byte> in)
    : arguments_(std::make_unique<Arguments>()) {
  Arguments& a = *arguments_;
  const bool adds = reduces(shape.collective);
  const std::size_t count = adds ? shape.message_bytes / bytes_of(shape.element) : shape.message_bytes;
  a.collective = shape.collective;
  a.comm = comm.handle().comm;
  a.rank = comm.rank();
  a.count = static_cast<int>(count);
  a.type = !adds ? MPI_BYTE : shape.element == Element::fp32 ? MPI_FLOAT : MPI_DOUBLE;
  a.out = out.data();
  a.in = in.data();
  const int ranks = comm.size();
  for (int rank = 0; rank < ranks; ++rank) {
    a.counts.push_back(adds ? static_cast<int>(share_of(count, rank, ranks).count) : a.count);
    a.places.push_back(rank * a.count);
  }
}

CollectiveCall::~CollectiveCall() = default;

void CollectiveCall::run(int root) { check(arguments_->call(root, nullptr), "a collective operation"); }

void CollectiveCall::start(int root) {
  check(arguments_->call(root, &arguments_->request), "a nonblocking collective operation");
}

bool CollectiveCall::test() {
  int done = 0;
  check(MPI_Test(&arguments_->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void CollectiveCall::wait() { check(MPI_Wait(&arguments_->request, MPI_STATUS_IGNORE), "MPI_Wait"); }

}  // namespace ullage::mpi
