// SPDX-License-Identifier: Apache-2.0
#include "mpi/collectives.hpp"

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

/// The blocking and the nonblocking form of an operation, which has the same arguments and a request.
template <class Blocking, class Nonblocking>
struct Forms {
  Blocking blocking;
  Nonblocking nonblocking;

  /// Nonblocking where `asked` is not null.
  template <class... Given>
  [[nodiscard]] int operator()(MPI_Request* asked, Given... given) const {
    return asked != nullptr ? nonblocking(given..., asked) : blocking(given...);
  }
};

/// Counts as every MPI has them.
struct IntCounts {
  using Count = int;
  using Place = int;
  static constexpr Forms bcast{&MPI_Bcast, &MPI_Ibcast};
  static constexpr Forms reduce{&MPI_Reduce, &MPI_Ireduce};
  static constexpr Forms allreduce{&MPI_Allreduce, &MPI_Iallreduce};
  static constexpr Forms reduce_scatter{&MPI_Reduce_scatter, &MPI_Ireduce_scatter};
  static constexpr Forms gather{&MPI_Gather, &MPI_Igather};
  static constexpr Forms scatter{&MPI_Scatter, &MPI_Iscatter};
  static constexpr Forms allgather{&MPI_Allgather, &MPI_Iallgather};
  static constexpr Forms allgatherv{&MPI_Allgatherv, &MPI_Iallgatherv};
  static constexpr Forms alltoall{&MPI_Alltoall, &MPI_Ialltoall};
  static constexpr Forms alltoallv{&MPI_Alltoallv, &MPI_Ialltoallv};
};

#if MPI_VERSION >= 4
constexpr bool mpi_has_large_counts = true;
/// Those of MPI 4.
struct LargeCounts {
  using Count = MPI_Count;
  using Place = MPI_Aint;
  static constexpr Forms bcast{&MPI_Bcast_c, &MPI_Ibcast_c};
  static constexpr Forms reduce{&MPI_Reduce_c, &MPI_Ireduce_c};
  static constexpr Forms allreduce{&MPI_Allreduce_c, &MPI_Iallreduce_c};
  static constexpr Forms reduce_scatter{&MPI_Reduce_scatter_c, &MPI_Ireduce_scatter_c};
  static constexpr Forms gather{&MPI_Gather_c, &MPI_Igather_c};
  static constexpr Forms scatter{&MPI_Scatter_c, &MPI_Iscatter_c};
  static constexpr Forms allgather{&MPI_Allgather_c, &MPI_Iallgather_c};
  static constexpr Forms allgatherv{&MPI_Allgatherv_c, &MPI_Iallgatherv_c};
  static constexpr Forms alltoall{&MPI_Alltoall_c, &MPI_Ialltoall_c};
  static constexpr Forms alltoallv{&MPI_Alltoallv_c, &MPI_Ialltoallv_c};
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
        return Calls::bcast(asked, data, count_, type_, root, comm_);
      }
      case Collective::reduce:
        return Calls::reduce(asked, out_, in_, count_, type_, MPI_SUM, root, comm_);
      case Collective::gather:
        return Calls::gather(asked, out_, count_, type_, in_, count_, type_, root, comm_);
      default:
        return Calls::scatter(asked, out_, count_, type_, in_, count_, type_, root, comm_);
    }
  }

  [[nodiscard]] int call_reducing(MPI_Request* asked) {
    if (collective_ == Collective::allreduce) return Calls::allreduce(asked, out_, in_, count_, type_, MPI_SUM, comm_);
    return Calls::reduce_scatter(asked, out_, in_, counts_.data(), type_, MPI_SUM, comm_);
  }

  [[nodiscard]] int call_moving(MPI_Request* asked) {
    const Count* const n = counts_.data();
    const Place* const at = places_.data();
    switch (collective_) {
      case Collective::allgather:
        return Calls::allgather(asked, out_, count_, type_, in_, count_, type_, comm_);
      case Collective::allgatherv:
        return Calls::allgatherv(asked, out_, count_, type_, in_, n, at, type_, comm_);
      case Collective::alltoall:
        return Calls::alltoall(asked, out_, count_, type_, in_, count_, type_, comm_);
      default:
        return Calls::alltoallv(asked, out_, n, at, type_, in_, n, at, type_, comm_);
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
