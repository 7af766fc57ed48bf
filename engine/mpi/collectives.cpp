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

std::uint64_t largest_count(const CollectiveShape& shape, int ranks) {
  const std::uint64_t count =
      reduces(shape.collective) ? shape.message_bytes / bytes_of(shape.element) : std::uint64_t{shape.message_bytes};
  switch (shape.collective) {
    case Collective::gather:
    case Collective::scatter:
    case Collective::allgather:
    case Collective::allgatherv:
    case Collective::alltoallv:
      return count * static_cast<std::uint64_t>(ranks);
    default:
      return count;
  }
}

/// Holds what MPI is called with, again and again. A call with a request is the nonblocking form of the same operation.
struct CollectiveCall::Arguments {
  Arguments() = default;
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  virtual ~Arguments() = default;
  [[nodiscard]] virtual int call(int root, MPI_Request* asked) = 0;

  MPI_Request request = MPI_REQUEST_NULL;
};

namespace {

/// Counts as every MPI has them.
struct IntCounts {
  using Count = int;
  using Place = int;
  static constexpr auto bcast = &MPI_Bcast;
  static constexpr auto ibcast = &MPI_Ibcast;
  static constexpr auto reduce = &MPI_Reduce;
  static constexpr auto ireduce = &MPI_Ireduce;
  static constexpr auto allreduce = &MPI_Allreduce;
  static constexpr auto iallreduce = &MPI_Iallreduce;
  static constexpr auto reduce_scatter = &MPI_Reduce_scatter;
  static constexpr auto ireduce_scatter = &MPI_Ireduce_scatter;
  static constexpr auto gather = &MPI_Gather;
  static constexpr auto igather = &MPI_Igather;
  static constexpr auto scatter = &MPI_Scatter;
  static constexpr auto iscatter = &MPI_Iscatter;
  static constexpr auto allgather = &MPI_Allgather;
  static constexpr auto iallgather = &MPI_Iallgather;
  static constexpr auto allgatherv = &MPI_Allgatherv;
  static constexpr auto iallgatherv = &MPI_Iallgatherv;
  static constexpr auto alltoall = &MPI_Alltoall;
  static constexpr auto ialltoall = &MPI_Ialltoall;
  static constexpr auto alltoallv = &MPI_Alltoallv;
  static constexpr auto ialltoallv = &MPI_Ialltoallv;
};

#if MPI_VERSION >= 4
constexpr bool mpi_has_large_counts = true;
/// Those of MPI 4.
struct LargeCounts {
  using Count = MPI_Count;
  using Place = MPI_Aint;
  static constexpr auto bcast = &MPI_Bcast_c;
  static constexpr auto ibcast = &MPI_Ibcast_c;
  static constexpr auto reduce = &MPI_Reduce_c;
  static constexpr auto ireduce = &MPI_Ireduce_c;
  static constexpr auto allreduce = &MPI_Allreduce_c;
  static constexpr auto iallreduce = &MPI_Iallreduce_c;
  static constexpr auto reduce_scatter = &MPI_Reduce_scatter_c;
  static constexpr auto ireduce_scatter = &MPI_Ireduce_scatter_c;
  static constexpr auto gather = &MPI_Gather_c;
  static constexpr auto igather = &MPI_Igather_c;
  static constexpr auto scatter = &MPI_Scatter_c;
  static constexpr auto iscatter = &MPI_Iscatter_c;
  static constexpr auto allgather = &MPI_Allgather_c;
  static constexpr auto iallgather = &MPI_Iallgather_c;
  static constexpr auto allgatherv = &MPI_Allgatherv_c;
  static constexpr auto iallgatherv = &MPI_Iallgatherv_c;
  static constexpr auto alltoall = &MPI_Alltoall_c;
  static constexpr auto ialltoall = &MPI_Ialltoall_c;
  static constexpr auto alltoallv = &MPI_Alltoallv_c;
  static constexpr auto ialltoallv = &MPI_Ialltoallv_c;
};
#else
constexpr bool mpi_has_large_counts = false;
using LargeCounts = IntCounts;  // never taken: see counts_fit()
#endif

[[nodiscard]] constexpr bool has_counts_of_each(Collective collective) {
  return collective == Collective::allgatherv || collective == Collective::alltoallv ||
         collective == Collective::reduce_scatter;
}

template <class Calls>
class ArgumentsOf final : public CollectiveCall::Arguments {
 public:
  using Count = Calls::Count;
  using Place = Calls::Place;

  ArgumentsOf(const Comm& of, const CollectiveShape& shape, void* give, void* get)
      : collective_(shape.collective), comm_(of.handle().comm), rank_(of.rank()), out_(give), in_(get) {
    const bool adds = reduces(collective_);
    const std::size_t all = adds ? shape.message_bytes / bytes_of(shape.element) : shape.message_bytes;
    count_ = static_cast<Count>(all);
    type_ = !adds ? MPI_BYTE : shape.element == Element::fp32 ? MPI_FLOAT : MPI_DOUBLE;
    const int ranks = of.size();
    for (int i = 0; i < ranks && has_counts_of_each(collective_); ++i) {
      counts_.push_back(adds ? static_cast<Count>(share_of(all, i, ranks).count) : count_);
      if (!adds) places_.push_back(static_cast<Place>(static_cast<std::size_t>(i) * all));
    }
  }

  [[nodiscard]] int call(int root, MPI_Request* asked) override {
    if (collective_ == Collective::barrier) return asked != nullptr ? MPI_Ibarrier(comm_, asked) : MPI_Barrier(comm_);
    if (has_root(collective_)) return call_rooted(root, asked);
    return reduces(collective_) ? call_reducing(asked) : call_moving(asked);
  }

 private:
  [[nodiscard]] int call_rooted(int root, MPI_Request* asked) {
    switch (collective_) {
      case Collective::bcast: {
        void* const data = rank_ == root ? out_ : in_;
        return asked != nullptr ? Calls::ibcast(data, count_, type_, root, comm_, asked)
                                : Calls::bcast(data, count_, type_, root, comm_);
      }
      case Collective::reduce:
        return asked != nullptr ? Calls::ireduce(out_, in_, count_, type_, MPI_SUM, root, comm_, asked)
                                : Calls::reduce(out_, in_, count_, type_, MPI_SUM, root, comm_);
      case Collective::gather:
        return asked != nullptr ? Calls::igather(out_, count_, type_, in_, count_, type_, root, comm_, asked)
                                : Calls::gather(out_, count_, type_, in_, count_, type_, root, comm_);
      default:
        return asked != nullptr ? Calls::iscatter(out_, count_, type_, in_, count_, type_, root, comm_, asked)
                                : Calls::scatter(out_, count_, type_, in_, count_, type_, root, comm_);
    }
  }

  [[nodiscard]] int call_reducing(MPI_Request* asked) {
    if (collective_ == Collective::allreduce)
      return asked != nullptr ? Calls::iallreduce(out_, in_, count_, type_, MPI_SUM, comm_, asked)
                              : Calls::allreduce(out_, in_, count_, type_, MPI_SUM, comm_);
    return asked != nullptr ? Calls::ireduce_scatter(out_, in_, counts_.data(), type_, MPI_SUM, comm_, asked)
                            : Calls::reduce_scatter(out_, in_, counts_.data(), type_, MPI_SUM, comm_);
  }

  [[nodiscard]] int call_moving(MPI_Request* asked) {
    const Count* const n = counts_.data();
    const Place* const at = places_.data();
    switch (collective_) {
      case Collective::allgather:
        return asked != nullptr ? Calls::iallgather(out_, count_, type_, in_, count_, type_, comm_, asked)
                                : Calls::allgather(out_, count_, type_, in_, count_, type_, comm_);
      case Collective::allgatherv:
        return asked != nullptr ? Calls::iallgatherv(out_, count_, type_, in_, n, at, type_, comm_, asked)
                                : Calls::allgatherv(out_, count_, type_, in_, n, at, type_, comm_);
      case Collective::alltoall:
        return asked != nullptr ? Calls::ialltoall(out_, count_, type_, in_, count_, type_, comm_, asked)
                                : Calls::alltoall(out_, count_, type_, in_, count_, type_, comm_);
      default:
        return asked != nullptr ? Calls::ialltoallv(out_, n, at, type_, in_, n, at, type_, comm_, asked)
                                : Calls::alltoallv(out_, n, at, type_, in_, n, at, type_, comm_);
    }
  }

  Collective collective_;
  MPI_Comm comm_;
  int rank_;
  Count count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  void* out_;  // only read
  void* in_;
  std::vector<Count> counts_;  // of each rank, in units of `type_`, where the operation asks for them
  std::vector<Place> places_;
};

}  // namespace

bool has_large_counts() { return mpi_has_large_counts && has_version_4(); }

CollectiveCall::CollectiveCall(const Comm& comm, const CollectiveShape& shape, std::span<std::byte> out,
                               std::span<std::byte> in, CallCounts counts) {
  const bool is_large = counts == CallCounts::large || largest_count(shape, comm.size()) > most_int_count;
  if (is_large && has_large_counts())
    arguments_ = std::make_unique<ArgumentsOf<LargeCounts>>(comm, shape, out.data(), in.data());
  else
    arguments_ = std::make_unique<ArgumentsOf<IntCounts>>(comm, shape, out.data(), in.data());
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
