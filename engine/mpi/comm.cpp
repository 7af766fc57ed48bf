// SPDX-License-Identifier: Apache-2.0
#include "mpi/comm.hpp"

#include <unistd.h>

#include <climits>
#include <fstream>

#include "base/permutation.hpp"
#include "mpi/agreement.hpp"
#include "mpi/error.hpp"
#include "mpi/handles.hpp"

namespace ullage::mpi {

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string kernel_identity() {
  std::string identity;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), identity);
  return identity.empty() ? "host " + host_name() : identity;
}

namespace {

// Longest part of a message or reduction: counts are ints, and a part this long costs nothing to begin.
constexpr std::size_t longest_part = std::size_t{1} << 30;
/// Texts are sent in parts that a receiver without memory for the whole can take all the same.
constexpr std::size_t text_part_bytes = std::size_t{16} << 10;
/// Longer texts are made room for by all ranks before any of them gets one; error texts, which tell of that, are not.
constexpr std::size_t longest_line_bytes = 4096;

static_assert(sizeof(long) == sizeof(std::int64_t), "MPI_LONG_INT has to hold an int64");
struct LongInt {
  long value;
  int rank;
};

/// Calls `move(first, count)` for every part of [0, total); once with nothing when total is 0.
template <class Move>
void in_parts(std::size_t total, const Move& move) {
  std::size_t first = 0;
  do {
    const std::size_t count = std::min(total - first, longest_part);
    move(first, static_cast<int>(count));
    first += count;
  } while (first < total);
}

template <class T>
void reduce_everywhere(const Comm::Handle& handle, CallSite site, std::span<T> values, MPI_Datatype type,
                       MPI_Op operation) {
  const Entered entered(handle, site);
  in_parts(values.size(), [&](std::size_t first, int count) {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data() + first, count, type, operation, handle.comm), "MPI_Allreduce");
  });
}

LongInt locate(const Comm::Handle& handle, CallSite site, std::int64_t value, int rank, MPI_Op operation) {
  const Entered entered(handle, site);
  LongInt located{value, rank};
  check(MPI_Allreduce(MPI_IN_PLACE, &located, 1, MPI_LONG_INT, operation, handle.comm), "MPI_Allreduce");
  return located;
}

}  // namespace

Comm::Comm(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {
  check(MPI_Comm_set_errhandler(handle_->comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
}

Comm::Comm(Comm&&) noexcept = default;

Comm& Comm::operator=(Comm&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

Comm::~Comm() {
  if (!handle_ || !handle_->owned) return;
  const Waiting waiting;
  check(MPI_Comm_free(&handle_->comm), "MPI_Comm_free");
}

Comm Comm::world() { return Comm(std::make_unique<Handle>(MPI_COMM_WORLD, false)); }
Comm Comm::self() { return Comm(std::make_unique<Handle>(MPI_COMM_SELF, false)); }

int Comm::rank() const {
  int rank = 0;
  check(MPI_Comm_rank(handle_->comm, &rank), "MPI_Comm_rank");
  return rank;
}

int Comm::size() const {
  int size = 0;
  check(MPI_Comm_size(handle_->comm, &size), "MPI_Comm_size");
  return size;
}

Comm Comm::duplicate(CallSite site) const {
  const Entered entered(*handle_, site);
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_dup(handle_->comm, &made), "MPI_Comm_dup");
  return Comm(std::make_unique<Handle>(made, true));
}

Comm Comm::split(int color, int key, CallSite site) const {
  const Entered entered(*handle_, site);
  MPI_Comm made = MPI_COMM_NULL;
  check(MPI_Comm_split(handle_->comm, color, key, &made), "MPI_Comm_split");
  return Comm(std::make_unique<Handle>(made, true));
}

// Not MPI_Comm_split_type: that costs MPICH a quarter of a second for 64 ranks on two cores, and it takes network
// namespaces of one machine for one host or not, as the library likes.
Comm Comm::split_by_node(CallSite site) const { return split_by_node(host_name(), site); }

Comm Comm::split_by_node(const std::string& host, CallSite site) const {
  return split_by_text(kernel_identity() + " " + host, site);
}

Comm Comm::split_by_text(const std::string& text, CallSite site) const {
  Comm ranks(std::make_unique<Handle>(handle_->comm, false));
  const std::int64_t hash = stable_hash(text);
  for (const int shift : {0, 31}) {  // colours have 31 bits, the hash 62 and more
    std::array<std::int64_t, 2> bounds{hash, -hash};
    ranks.max_all(bounds, site);
    if (bounds[0] == -bounds[1]) break;
    ranks = ranks.split(static_cast<int>((hash >> shift) & 0x7fffffff), ranks.rank(), site);
  }
  return ranks;
}

std::uint64_t Comm::sum_before(std::uint64_t value, CallSite site) const {
  const Entered entered(*handle_, site);
  std::uint64_t before = 0;
  check(MPI_Exscan(&value, &before, 1, MPI_UINT64_T, MPI_SUM, handle_->comm), "MPI_Exscan");
  return rank() == 0 ? 0 : before;
}

void Comm::barrier(CallSite site) const {
  const Entered entered(*handle_, site);
  check(MPI_Barrier(handle_->comm), "MPI_Barrier");
}

void Comm::broadcast(std::span<std::byte> data, int root, CallSite site) const {
  const Entered entered(*handle_, site);
  in_parts(data.size(), [&](std::size_t first, int count) {
    check(MPI_Bcast(data.data() + first, count, MPI_BYTE, root, handle_->comm), "MPI_Bcast");
  });
}

std::string Comm::broadcast(std::string text, int root, CallSite site) const {
  const auto length = static_cast<std::size_t>(broadcast(static_cast<std::int64_t>(text.size()), root, site));
  if (length > longest_line_bytes)
    allocate_or_throw(*this, [&] { text.resize(length); }, site);
  else
    text.resize(length);
  broadcast(std::as_writable_bytes(std::span(text)), root, site);
  return text;
}

std::int64_t Comm::broadcast(std::int64_t value, int root, CallSite site) const {
  const Entered entered(*handle_, site);
  check(MPI_Bcast(&value, 1, MPI_INT64_T, root, handle_->comm), "MPI_Bcast");
  return value;
}

std::int64_t Comm::min(std::int64_t value, CallSite site) const {
  min_all({&value, 1}, site);
  return value;
}

std::int64_t Comm::max(std::int64_t value, CallSite site) const {
  max_all({&value, 1}, site);
  return value;
}

std::uint64_t Comm::sum(std::uint64_t value, CallSite site) const {
  sum_all({&value, 1}, site);
  return value;
}

bool Comm::all(bool value, CallSite site) const { return min(value ? 1 : 0, site) != 0; }
bool Comm::any(bool value, CallSite site) const { return max(value ? 1 : 0, site) != 0; }

Comm::Located Comm::max_location(std::int64_t value, CallSite site) const {
  const LongInt located = locate(*handle_, site, value, rank(), MPI_MAXLOC);
  return {located.value, located.rank};
}

Comm::Located Comm::min_location(std::int64_t value, CallSite site) const {
  const LongInt located = locate(*handle_, site, value, rank(), MPI_MINLOC);
  return {located.value, located.rank};
}

void Comm::sum_to_root(std::span<std::uint64_t> values, int root, CallSite site) const {
  const Entered entered(*handle_, site);
  const bool mine = rank() == root;
  in_parts(values.size(), [&](std::size_t first, int count) {
    std::uint64_t* const part = values.data() + first;
    check(MPI_Reduce(mine ? MPI_IN_PLACE : part, mine ? part : nullptr, count, MPI_UINT64_T, MPI_SUM, root,
                     handle_->comm),
          "MPI_Reduce");
  });
}

void Comm::min_all(std::span<std::int64_t> values, CallSite site) const {
  reduce_everywhere(*handle_, site, values, MPI_INT64_T, MPI_MIN);
}
void Comm::max_all(std::span<std::int64_t> values, CallSite site) const {
  reduce_everywhere(*handle_, site, values, MPI_INT64_T, MPI_MAX);
}
void Comm::sum_all(std::span<std::uint64_t> values, CallSite site) const {
  reduce_everywhere(*handle_, site, values, MPI_UINT64_T, MPI_SUM);
}
void Comm::min_all(std::span<double> values, CallSite site) const {
  reduce_everywhere(*handle_, site, values, MPI_DOUBLE, MPI_MIN);
}
void Comm::max_all(std::span<double> values, CallSite site) const {
  reduce_everywhere(*handle_, site, values, MPI_DOUBLE, MPI_MAX);
}
void Comm::sum_all(std::span<double> values, CallSite site) const {
  reduce_everywhere(*handle_, site, values, MPI_DOUBLE, MPI_SUM);
}

void Comm::send(std::span<const std::byte> data, int to, int tag) const {
  const Waiting waiting;
  in_parts(data.size(), [&](std::size_t first, int count) {
    check(MPI_Send(data.data() + first, count, MPI_BYTE, to, tag, handle_->comm), "MPI_Send");
  });
}

int Comm::receive(std::span<std::byte> data, int from, int tag) const {
  const Waiting waiting;
  int source = from == any_source ? MPI_ANY_SOURCE : from;
  in_parts(data.size(), [&](std::size_t first, int count) {
    MPI_Status status;
    check(MPI_Recv(data.data() + first, count, MPI_BYTE, source, tag, handle_->comm, &status), "MPI_Recv");
    int received = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count");
    if (received != count)
      check(MPI_ERR_COUNT, "MPI_Recv: a message is shorter than its receiver expects: MPI_Get_count");
    source = status.MPI_SOURCE;
  });
  return source;
}

void Comm::send(const std::string& text, int to, int tag) const {
  const std::uint64_t size = text.size();
  send(std::as_bytes(std::span(&size, 1)), to, tag);
  for (std::span<const std::byte> rest = std::as_bytes(std::span(text)); !rest.empty();) {
    const auto part = rest.first(std::min(rest.size(), text_part_bytes));
    send(part, to, tag);
    rest = rest.subspan(part.size());
  }
}

std::string Comm::receive_text(int from, int tag) const {
  std::uint64_t size = 0;
  const int sender = receive(std::as_writable_bytes(std::span(&size, 1)), from, tag);
  std::string text;
  const Status room = catch_resource_errors([&] -> Status {
    text.resize(size);
    return {};
  });
  std::array<std::byte, text_part_bytes> nowhere;
  for (std::uint64_t done = 0; done < size;) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, text_part_bytes));
    receive(room ? std::as_writable_bytes(std::span(text)).subspan(done, length) : std::span(nowhere).first(length),
            sender, tag);
    done += length;
  }
  if (!room) throw ResourceError(room.error());
  return text;
}

void Comm::exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from, int tag) const {
  if (out.size() > longest_part || in.size() > longest_part) check(MPI_ERR_COUNT, "MPI_Sendrecv of more than 1 GiB");
  const Waiting waiting;
  check(MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, to, tag, in.data(),
                     static_cast<int>(in.size()), MPI_BYTE, from, tag, handle_->comm, MPI_STATUS_IGNORE),
        "MPI_Sendrecv");
}

World::World() : World(host_name()) {}

World::World(std::string host) : all_(Comm::world().duplicate()), node_(all_.split_by_node(host)), self_(Comm::self()) {
  topology_.rank = all_.rank();
  topology_.ranks = all_.size();
  topology_.rank_on_node = node_.rank();
  topology_.ranks_on_node = node_.size();
  topology_.most_ranks_on_a_node = topology_.ranks_on_node;
  topology_.fewest_ranks_on_a_node = topology_.ranks_on_node;
  topology_.node_name = std::move(host);
  if (topology_.ranks_on_node < topology_.ranks) number_nodes();
}

void World::number_nodes() {
  const auto leaders_before = static_cast<std::int64_t>(all_.sum_before(topology_.leader() ? 1 : 0));
  topology_.node = static_cast<int>(node_.broadcast(leaders_before, 0));
  std::array<std::int64_t, 3> most{topology_.node, topology_.ranks_on_node, -topology_.ranks_on_node};
  all_.max_all(most);
  topology_.nodes = static_cast<int>(most[0]) + 1;
  topology_.most_ranks_on_a_node = static_cast<int>(most[1]);
  topology_.fewest_ranks_on_a_node = static_cast<int>(-most[2]);
  kernel_ = all_.split_by_text(kernel_identity());
}

int World::rank_on_other_node(int shift) const {
  constexpr int tag_ranks = 61;
  const int nodes = topology_.nodes;
  if (nodes == 1) return -1;
  constexpr std::int64_t nobody = -1;
  std::vector<std::int64_t> ours;
  std::vector<std::int64_t> theirs;
  allocate_or_throw(all_, [&] {
    for (auto* ranks : {&ours, &theirs})
      ranks->assign(static_cast<std::size_t>(topology_.most_ranks_on_a_node), nobody);
  });
  ours[static_cast<std::size_t>(topology_.rank_on_node)] = topology_.rank;
  node_.max_all(ours);

  const Comm leaders =
      all_.split(topology_.leader() ? 0 : 1, topology_.rank);  // a leader's rank in it is its node's number
  if (topology_.leader()) {
    const int steps = (shift % nodes + nodes) % nodes;
    leaders.exchange(std::as_bytes(std::span(ours)), (topology_.node - steps + nodes) % nodes,
                     std::as_writable_bytes(std::span(theirs)), (topology_.node + steps) % nodes, tag_ranks);
  }
  node_.broadcast(std::as_writable_bytes(std::span(theirs)), 0);
  const auto there = std::ranges::count_if(theirs, [](std::int64_t rank) { return rank != nobody; });
  return static_cast<int>(theirs[static_cast<std::size_t>(topology_.rank_on_node % there)]);
}

}  // namespace ullage::mpi
