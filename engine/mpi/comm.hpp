// SPDX-License-Identifier: Apache-2.0
// Our own thin MPI: the folder mpi/ is the only place that includes <mpi.h>. Programmer errors abort; what can fail
// returns a value.
#pragma once

#include <source_location>

#include "base/pinned.hpp"
#include "base/result.hpp"
#include "base/std.hpp"

namespace ullage::mpi {

// Who this process's machine is.

/// Returns the name as the process sees it: of its UTS namespace.
[[nodiscard]] std::string host_name();

/// Same for processes on the same running kernel, whatever their namespaces call it; the host's name where the kernel
/// does not say.
[[nodiscard]] std::string kernel_identity();

/// MPI_Init .. MPI_Finalize. Handles passed to a scope end before it does.
class Environment final : Pinned {
 public:
  Environment(int* argc, char*** argv);
  ~Environment();
};

[[nodiscard]] std::string library_version();  // callable before Environment

/// The one place that ends all ranks at once; may be called from any thread, at any time, and flushes nothing. Never
/// returns: where MPI is not up, may not be called from this thread or does not answer within seconds, only this
/// process ends, and its launcher ends the others.
[[noreturn]] void abort_all(int exit_code);

/// Says where a collective is called from. The builds of the tests and of the sanitizers compare it over the ranks
/// before they enter: see mpi/collective_check.hpp.
using CallSite = std::source_location;

/// A communicator; move-only, freed when it owns one (world does not).
class Comm final {
 public:
  [[nodiscard]] static Comm world();
  [[nodiscard]] static Comm self();
  Comm(Comm&&) noexcept;
  Comm& operator=(Comm&&) noexcept;
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;
  ~Comm();

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] Comm duplicate(CallSite site = CallSite::current()) const;
  [[nodiscard]] Comm split(int color, int key, CallSite site = CallSite::current()) const;
  /// The ranks among these that run on the same kernel under the same host name (network namespaces of one machine are
  /// hosts of their own), i.e. a node; ordered as here. Where that is all of them it is this communicator, which then
  /// has to live longer.
  [[nodiscard]] Comm split_by_node(CallSite site = CallSite::current()) const;
  [[nodiscard]] Comm split_by_node(const std::string& host, CallSite site = CallSite::current()) const;
  /// The ranks among these that gave the same text, likewise.
  [[nodiscard]] Comm split_by_text(const std::string& text, CallSite site = CallSite::current()) const;
  /// Sum of the values of the ranks before this one; 0 on the first.
  [[nodiscard]] std::uint64_t sum_before(std::uint64_t value, CallSite site = CallSite::current()) const;

  void barrier(CallSite site = CallSite::current()) const;
  void broadcast(std::span<std::byte> data, int root, CallSite site = CallSite::current()) const;
  /// Of any length. Throws, on all ranks, where one has no memory for a long text.
  [[nodiscard]] std::string broadcast(std::string text, int root, CallSite site = CallSite::current()) const;
  [[nodiscard]] std::int64_t broadcast(std::int64_t value, int root, CallSite site = CallSite::current()) const;

  [[nodiscard]] std::int64_t min(std::int64_t value, CallSite site = CallSite::current()) const;  // all ranks get it
  [[nodiscard]] std::int64_t max(std::int64_t value, CallSite site = CallSite::current()) const;
  [[nodiscard]] std::uint64_t sum(std::uint64_t value, CallSite site = CallSite::current()) const;
  [[nodiscard]] bool all(bool value, CallSite site = CallSite::current()) const;
  [[nodiscard]] bool any(bool value, CallSite site = CallSite::current()) const;
  struct Located {
    std::int64_t value = 0;
    int rank = 0;
  };
  [[nodiscard]] Located max_location(std::int64_t value,
                                     CallSite site = CallSite::current()) const;  // lowest rank among equals
  [[nodiscard]] Located min_location(std::int64_t value, CallSite site = CallSite::current()) const;
  /// Element-wise, at root only (others' spans are left as they are).
  void sum_to_root(std::span<std::uint64_t> values, int root, CallSite site = CallSite::current()) const;
  void min_all(std::span<std::int64_t> values,
               CallSite site = CallSite::current()) const;  // element-wise, everywhere, in one call
  void max_all(std::span<std::int64_t> values, CallSite site = CallSite::current()) const;
  void sum_all(std::span<std::uint64_t> values, CallSite site = CallSite::current()) const;
  void min_all(std::span<double> values, CallSite site = CallSite::current()) const;
  void max_all(std::span<double> values, CallSite site = CallSite::current()) const;
  void sum_all(std::span<double> values, CallSite site = CallSite::current()) const;

  void send(std::span<const std::byte> data, int to, int tag) const;
  // Messages may be of any length: long ones go in parts.
  /// Receives exactly data.size() bytes; returns the sender. `from` may be any_source.
  int receive(std::span<std::byte> data, int from, int tag) const;
  void send(const std::string& text, int to, int tag) const;
  /// Throws where there is no memory for it, when the sender has sent it all.
  [[nodiscard]] std::string receive_text(int from, int tag) const;
  static constexpr int any_source = -1;
  /// Sends and receives at once, at most 1 GiB each way; the sizes have to match.
  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in, int from, int tag) const;

  struct Handle;  // holds the MPI_Comm; defined in mpi/handles.hpp, included inside mpi/ only
  [[nodiscard]] const Handle& handle() const { return *handle_; }

 private:
  explicit Comm(std::unique_ptr<Handle> handle);
  std::unique_ptr<Handle> handle_;
};

/// Says where the ranks sit, by true node, not by name order.
struct Topology {
  int rank = 0;
  int ranks = 1;
  int node = 0;  // 0 .. nodes-1, in order of their lowest rank
  int nodes = 1;
  int rank_on_node = 0;
  int ranks_on_node = 1;
  int most_ranks_on_a_node = 1;
  int fewest_ranks_on_a_node = 1;
  std::string node_name;
  [[nodiscard]] bool leader() const { return rank_on_node == 0; }
};

/// The ranks' communicators and places. O(1) memory a rank apart from what MPI itself keeps.
class World final {
 public:
  World();
  /// Makes the world as if this rank ran on a host of that name.
  explicit World(std::string host);
  [[nodiscard]] const Comm& all() const { return all_; }
  [[nodiscard]] const Comm& node() const { return node_; }
  /// Ranks on the same running kernel: those of a node, or of all nodes that are namespaces of one machine. Kernel-wide
  /// counters are read once for these.
  [[nodiscard]] const Comm& kernel() const { return kernel_ ? *kernel_ : node_; }
  [[nodiscard]] const Comm& self() const { return self_; }
  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] int rank() const { return topology_.rank; }
  [[nodiscard]] int size() const { return topology_.ranks; }
  [[nodiscard]] bool root() const { return topology_.rank == 0; }
  /// The rank `shift` nodes further with the same place on its node (modulo), or -1 when there is one node. Collective,
  /// with the same shift everywhere. Takes memory for the ranks of one node while it runs; throws, on all ranks, where
  /// one has not got it.
  [[nodiscard]] int rank_on_other_node(int shift) const;

 private:
  void number_nodes();
  Comm all_;  // first: the others may be the same communicator
  Comm node_;
  Comm self_;
  std::optional<Comm> kernel_;  // where it is not the node
  Topology topology_;
};

}  // namespace ullage::mpi
